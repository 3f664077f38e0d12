//! POWER8: by polling.

use hypervisor_core::boot::firmware::Firmware;
use hypervisor_core::scheduling::doorbell::Doorbell;

use super::poll;
use crate::host_space::region;

/// There is nothing that firmware could tell.
pub(in super::super) const fn set_up(_: &Firmware<'_>) {}

/// Waits until the time base is `until` or more, this thread is called, whose doorbell this is, or for nothing.
pub(in super::super) fn wait(until: u64, doorbell: impl FnOnce() -> &'static Doorbell) {
    region::flush();
    poll(until, doorbell());
}
