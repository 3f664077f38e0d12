//! How a hardware thread makes another one leave its guest: the processor's own way.

#[cfg(feature = "power8")]
mod power8;
#[cfg(not(feature = "power8"))]
mod power9;

#[cfg(feature = "power8")]
pub(super) use power8::*;
#[cfg(not(feature = "power8"))]
pub(super) use power9::*;
