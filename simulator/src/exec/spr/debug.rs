//! Breakpoints and watchpoints.

use super::family::Family;
use super::kept;

pub(super) static FAMILY: Family =
    Family { read: kept::read, write: kept::write, synchronizes: |_, _| true };
