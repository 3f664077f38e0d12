//! How a vCPU waits for something to do: the states that an idle loop chooses among.
//!
//! `Snooze` is Linux's loop of that name (`drivers/cpuidle/cpuidle-pseries.c`), without its time-out, which it
//! has only beside a deeper state. `Stop` is what RFC "Add support for stop instruction inside KVM guest" adds
//! to it, and `Cede` is H_CEDE.

use core::arch::asm;

use arch::papr::Hypercall;

use crate::hypercall::hypercall;
use crate::interrupt::allow_interrupts;

/// The guest's number of PSSCR.
const PSSCR: u16 = 823;
/// `stop`.
const STOP: u32 = 19 << 26 | 370 << 1;

/// A state in which a vCPU waits.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum State {
    /// Looks for it in a loop, at low and very low priority.
    Snooze,
    /// The processor waits, with nothing lost; or the hypervisor does that for it.
    Stop,
    /// The hypervisor has the processor.
    Cede,
}

impl State {
    /// The one with this name.
    #[must_use]
    pub fn from_name(name: &str) -> Option<Self> {
        match name {
            "snooze" => Some(Self::Snooze),
            "stop" => Some(Self::Stop),
            "cede" => Some(Self::Cede),
            _ => None,
        }
    }

    /// Waits until `is_needed`, which an interrupt's handler may make so. Interrupts are off before and behind
    /// it. Between its last look and its sleep nothing is missed: an interrupt that waits ends `stop` and
    /// H_CEDE at once.
    #[inline(always)]
    pub fn wait(self, is_needed: impl Fn() -> bool) {
        match self {
            Self::Snooze => {
                allow_interrupts(true);
                while !is_needed() {
                    // SAFETY: hints; no register changes.
                    unsafe { asm!("or 1, 1, 1", "or 31, 31, 31", options(nomem, nostack)) };
                }
                // SAFETY: a hint, medium priority.
                unsafe { asm!("or 2, 2, 2", options(nomem, nostack)) };
                allow_interrupts(false);
            }
            Self::Stop => {
                while !is_needed() {
                    stop();
                    allow_interrupts(true);
                    allow_interrupts(false);
                }
            }
            Self::Cede => {
                while !is_needed() {
                    hypercall(Hypercall::Cede as u64, [0; 4]);
                    allow_interrupts(false);
                }
            }
        }
    }
}

/// Sets the guest's part of PSSCR.
pub fn set_psscr(value: u64) {
    // SAFETY: it says how deep this vCPU's next `stop` may be, which a guest is given only without loss.
    unsafe { asm!("mtspr {}, {}", const PSSCR, in(reg) value, options(nostack)) };
}

/// Waits for an interrupt, whether or not it is allowed now.
#[inline(always)]
pub fn stop() {
    // SAFETY: with ESL=0, which is the hypervisor's to say, no register is lost.
    unsafe { asm!(".long {}", const STOP, options(nostack)) };
}
