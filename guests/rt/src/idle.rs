//! How a vCPU waits for something to do: the states that an idle loop chooses among.
//!
//! `Snooze` is Linux's loop of that name (`drivers/cpuidle/cpuidle-pseries.c`), without its time-out, which it
//! has only beside a deeper state. `Stop` is what RFC "Add support for stop instruction inside KVM guest" adds
//! to it, and `Cede` is H_CEDE. [`Idle::Adaptive`] polls and sleeps as a [`Governor`] plans it.

use core::arch::asm;
use core::cell::Cell;
use core::sync::atomic::{AtomicBool, AtomicU64, Ordering::SeqCst};

use arch::interrupt::Vector;
use arch::papr::Hypercall;

use crate::governor::{End, Governor, Phase};
use crate::hypercall::{hypercall, hypercall_outputs};
use crate::interrupt::{allow_interrupts, on_interrupt};
use crate::partition::Partition;
use crate::time::{NEVER, TICKS_PER_MICROSECOND, set_decrementer, timebase};

/// The guest's number of PSSCR.
const PSSCR: u16 = 823;
/// SPRG3.
const SPRG3: u16 = 275;
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
            Self::Snooze => poll(is_needed),
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

/// Sleeps for so many ticks of the time base by H_CEDE; the decrementer's interrupt is this function's from then on.
pub fn sleep(ticks: u64) {
    on_interrupt(Vector::Decrementer, |_| set_decrementer(NEVER));
    let end = timebase() + ticks;
    allow_interrupts(false);
    while let left @ 1.. = end.saturating_sub(timebase()) {
        set_decrementer(left.min(NEVER));
        hypercall(Hypercall::Cede as u64, [0; 4]);
        allow_interrupts(false);
    }
}

/// Sleeps as often as the argument `naps` says, 20 ms each: what the hypervisor does from time to time has been done
/// then.
pub fn take_naps(partition: &Partition) {
    for _ in 0..partition.number("naps", 0u32) {
        sleep(20_000 * TICKS_PER_MICROSECOND);
    }
}

/// The most favoured priority of an interrupt between vCPUs that is used here, and that of none.
const PRIORITY: u64 = 4;
const NO_REQUEST: u64 = 0xFF;
/// The source of an interrupt between vCPUs, in what H_XIRR gives.
const BETWEEN_VCPUS: u64 = 2;

/// Looks before it makes a plan. Beside a busy sibling one takes some 150 ns, at very low priority. The clock, which
/// takes longer to read, is left alone meanwhile.
const PROMPT: u32 = 16;

/// What one vCPU waits for. The others wake it by this.
#[derive(Debug)]
pub struct Waiter {
    /// Linux's need-resched.
    is_needed: AtomicBool,
    /// It does not look at the flag by itself. Linux's polling flag is the contrary.
    sleeps: AtomicBool,
    /// When its timer expires, by the time base.
    deadline: AtomicU64,
}

impl Waiter {
    /// Waits for nothing.
    #[must_use]
    pub const fn new() -> Self {
        Self {
            is_needed: AtomicBool::new(false),
            sleeps: AtomicBool::new(false),
            deadline: AtomicU64::new(u64::MAX),
        }
    }

    /// Whether something is needed of the vCPU.
    pub fn is_needed(&self) -> bool {
        self.is_needed.load(SeqCst)
    }

    /// Whether it sleeps: the flag alone does not wake it.
    pub fn sleeps(&self) -> bool {
        self.sleeps.load(SeqCst)
    }

    /// Wakes vCPU `number`, whose waiter this is: by an interrupt only if it sleeps.
    pub fn wake(&self, number: u32) {
        self.is_needed.store(true, SeqCst);
        if self.sleeps() {
            interrupt(number);
        }
    }

    /// Sets the vCPU's timer, which sets the flag in so many ticks.
    pub fn set_timer(&self, ticks: u64) {
        self.deadline.store(timebase() + ticks, SeqCst);
        set_decrementer(ticks);
    }

    /// Ticks until the vCPU's timer expires, if it is set.
    fn timer(&self, now: u64) -> Option<u64> {
        let deadline = self.deadline.load(SeqCst);
        (deadline < u64::MAX).then(|| deadline.saturating_sub(now))
    }

    /// Handles the decrementer's interrupt.
    pub fn expired(&self) {
        let left = self.timer(timebase());
        if left == Some(0) {
            self.deadline.store(u64::MAX, SeqCst);
            self.is_needed.store(true, SeqCst);
        }
        set_decrementer(left.filter(|left| *left > 0).unwrap_or(NEVER));
    }

    /// Handles an external interrupt of vCPU `number`, whose waiter this is: accepts it, takes the request back and
    /// ends it, as Linux does. Whether it was one between vCPUs.
    pub fn interrupted(&self, number: u32) -> bool {
        let (_, [xirr, ..]) = hypercall_outputs(Hypercall::Xirr as u64, [0; 4]);
        hypercall(Hypercall::Ipi as u64, [u64::from(number), NO_REQUEST, 0, 0]);
        let is_between_vcpus = xirr & 0xFF_FFFF == BETWEEN_VCPUS;
        if is_between_vcpus {
            self.is_needed.store(true, SeqCst);
        }
        hypercall(Hypercall::Eoi as u64, [xirr, 0, 0, 0]);
        is_between_vcpus
    }
}

impl Default for Waiter {
    fn default() -> Self {
        Self::new()
    }
}

/// Sends vCPU `number` an interrupt.
///
/// # Panics
/// If H_IPI refuses it.
pub fn interrupt(number: u32) {
    let status = hypercall(Hypercall::Ipi as u64, [u64::from(number), PRIORITY, 0, 0]);
    assert_eq!(status, 0, "H_IPI");
}

/// Lets interrupts of every priority come, and no decrementer's.
pub fn allow_all_priorities() {
    hypercall(Hypercall::Cppr as u64, [0xFF, 0, 0, 0]);
    set_decrementer(NEVER);
}

/// How a vCPU waits.
#[derive(Debug)]
pub enum Idle {
    /// Always in this state.
    Fixed(State),
    /// As it has learned.
    Adaptive(Adaptive),
}

/// What an adaptive vCPU knows, and has done.
#[derive(Debug)]
pub struct Adaptive {
    /// The state in which it sleeps.
    pub sleep: State,
    /// What it has learned.
    pub governor: Governor,
    /// Ticks for which it has polled.
    pub polled: u64,
    /// Ticks for which it has slept.
    pub slept: u64,
}

impl Idle {
    /// Waits until something is needed, and takes that back. Interrupts are off before and behind it.
    #[inline(always)]
    pub fn wait(&mut self, waiter: &Waiter) {
        match self {
            Self::Fixed(state) => {
                waiter.sleeps.store(*state != State::Snooze, SeqCst);
                state.wait(|| waiter.is_needed());
                waiter.sleeps.store(false, SeqCst);
            }
            Self::Adaptive(adaptive) => adaptive.wait(waiter),
        }
        waiter.is_needed.store(false, SeqCst);
    }
}

impl Adaptive {
    fn wait(&mut self, waiter: &Waiter) {
        // What ends at once needs no plan, and teaches nothing.
        let looks = Cell::new(PROMPT);
        poll(|| waiter.is_needed() || looks.replace(looks.get() - 1) == 1);
        if waiter.is_needed() {
            return;
        }
        let begin = timebase();
        let timer = waiter.timer(begin);
        let plan = self.governor.plan(timer);
        let mut end = End::Poll;
        let mut now = begin;
        while !waiter.is_needed() {
            match plan.phase(now - begin) {
                Phase::Poll(until) => {
                    poll(|| waiter.is_needed() || timebase() - begin >= until);
                    end = End::Poll;
                    self.polled += timebase() - now;
                }
                Phase::Sleep(until) => {
                    self.sleep(waiter, until.map(|until| begin + until));
                    let slept = timebase() - now;
                    end = End::Sleep(slept);
                    self.slept += slept;
                }
            }
            now = timebase();
        }
        let elapsed = now - begin;
        if timer.is_some_and(|timer| elapsed >= timer) {
            end = End::Timer;
        }
        self.governor.learn(elapsed, end);
    }

    /// Sleeps until then, or until an interrupt.
    fn sleep(&self, waiter: &Waiter, until: Option<u64>) {
        waiter.sleeps.store(true, SeqCst);
        if let Some(until) = until {
            set_decrementer(until.saturating_sub(timebase()));
        }
        // Who wakes the vCPU has seen that it sleeps, or this sees the flag.
        if !waiter.is_needed() {
            match self.sleep {
                State::Cede => _ = hypercall(Hypercall::Cede as u64, [0; 4]),
                State::Stop | State::Snooze => stop(),
            }
        }
        allow_interrupts(true);
        allow_interrupts(false);
        waiter.sleeps.store(false, SeqCst);
        if until.is_some() {
            set_decrementer(waiter.timer(timebase()).unwrap_or(NEVER));
        }
    }
}

/// Polls at low and very low priority, with interrupts allowed.
#[inline(always)]
fn poll(is_needed: impl Fn() -> bool) {
    allow_interrupts(true);
    while !is_needed() {
        // SAFETY: hints; no register changes.
        unsafe { asm!("or 1, 1, 1", "or 31, 31, 31", options(nomem, nostack)) };
    }
    // SAFETY: a hint, medium priority.
    unsafe { asm!("or 2, 2, 2", options(nomem, nostack)) };
    allow_interrupts(false);
}

/// Lets the vCPU know its number, in SPRG3, which nothing else uses in a payload that waits so.
pub fn set_own_number(number: u32) {
    // SAFETY: the register keeps a number, and does nothing.
    unsafe { asm!("mtspr {}, {}", const SPRG3, in(reg) number, options(nostack)) };
}

/// What [`set_own_number`] has set.
#[must_use]
pub fn own_number() -> u32 {
    let number: u64;
    // SAFETY: reads a register.
    unsafe { asm!("mfspr {}, {}", out(reg) number, const SPRG3, options(nomem, nostack)) };
    number as u32
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
