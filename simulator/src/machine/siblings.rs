//! Registers that the threads of a core share: each thread keeps a copy, and hears of what a sibling writes.
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
        let siblings = shared.threads_beside(write.thread).filter(|&index| index != write.thread);
        for index in siblings {
            let thread = &mut threads[index];
            match write.spr {
                Spr::Hdec => {
                    follow_hypervisor_decrementer(thread, shared, write.value, write.cycle);
                }
                spr => thread.set_spr(spr, write.value),
            }
        }
    }
}
