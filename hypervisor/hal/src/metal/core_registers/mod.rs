//! What names the partition that runs and tells its time: LPIDR, VTB, the hypervisor decrementer. A POWER9 has them for
//! each thread; the threads of a POWER8's core share them.

#[cfg(feature = "power8")]
mod power8;
#[cfg(not(feature = "power8"))]
mod power9;

#[cfg(feature = "power8")]
pub(super) use power8::*;
#[cfg(not(feature = "power8"))]
pub(super) use power9::*;
