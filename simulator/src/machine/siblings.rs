//! Registers that the threads of a core, or of a subcore, share: each thread keeps a copy, and hears of what a sibling
//! writes.
//!
//! So whoever looks at a thread finds all that its translations and timers depend on, and a processor whose threads
//! have these registers for themselves does nothing here.

use arch::registers::spr::Spr;

use crate::interrupt::decrementers::follow_hypervisor_decrementer;
use crate::state::shared::Shared;
use crate::state::thread::Thread;

/// Tells `threads` what their siblings wrote.
pub(super) fn tell(threads: &mut [Thread], shared: &Shared) {
    for write in shared.shared_writes() {
        let siblings = shared.subcore_of(write.thread).filter(|&index| index != write.thread);
        for index in siblings {
            set_shared(&mut threads[index], shared, write.spr, write.value, write.cycle);
        }
    }
}

/// Gives `thread` a `value` of a sibling's register, as it was kept at `cycle` of that one's time.
pub(super) fn set_shared(thread: &mut Thread, shared: &Shared, spr: Spr, value: u64, cycle: u64) {
    match spr {
        Spr::Hdec => follow_hypervisor_decrementer(thread, shared, value, cycle),
        Spr::Tb => thread.timebase_offset = value,
        spr => thread.set_spr(spr, value),
    }
}
