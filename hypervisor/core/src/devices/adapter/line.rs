//! The line between a partition and its adapter: the queue for answers, and the commands under way. Several
//! vCPUs send and answer at a time, without a lock.
//!
//! A vCPU marks that it has a message under way before it looks whether the queue is open, and [`Line::free`] closes
//! the queue before it looks at the marks: one of the two sees the other. So the queue's place does not change while
//! anything is under way.

use alloc::vec::Vec;

use arch::vscsi::ENTRY_BYTES;

use crate::devices::dma::Dma;
use crate::guest_memory::AccessError;
use crate::hal::{Maps as _, Window as _, Windows};
use crate::sync::atomic::{AtomicU64, Ordering, fence};
use crate::sync::{Alone, Word};

const BYTES: u64 = ENTRY_BYTES as u64;

/// In the state: there is a queue.
const OPEN: u64 = 1;
/// A vCPU opens one.
const OPENING: u64 = 2;
/// Above: counts queues that were opened.
const CONVERSATION: u32 = 2;

/// The line.
#[derive(Debug)]
pub(crate) struct Line {
    /// The conversation, and whether it is open.
    state: AtomicU64,
    /// Where the queue is, in the window, and how many entries it has.
    address: Word,
    entries: Word,
    /// What it interrupts for. It changes while others look at what is above.
    interrupt: Alone<Interrupt>,
    /// Counts entries that were put there.
    next: Alone<AtomicU64>,
    /// By vCPU: whether it has a message under way.
    marks: Vec<Alone<UnderWay>>,
}

/// The adapter's interrupt, which stands for all answers until the guest has accepted it.
#[derive(Debug)]
struct Interrupt {
    /// An answer interrupts.
    signals: Word,
    /// There was an answer, and the interrupt for that was not accepted yet.
    request: AtomicU64,
}

/// A vCPU's message, of which it has one at a time.
#[derive(Debug)]
struct UnderWay {
    /// How many there were before it, and below [`STAGES`] what becomes of it.
    mark: AtomicU64,
    /// The command's tag, from [`MOVES`] on.
    tag: Word,
    /// Its disk.
    disk: Word,
    /// The mark of the last one that another vCPU forgot: whoever moves its data stops behind a piece.
    forgotten: Word,
}

/// There is none.
const NONE: u64 = 0;
/// It is read and answered.
const TAKEN: u64 = 1;
/// It is a command whose data moves.
const MOVES: u64 = 2;
const STAGES: u64 = 3;
/// The mark before the first message.
const FIRST: u64 = 4 | NONE;

/// What becomes of an entry.
pub(crate) enum Put {
    /// It is in the queue.
    There,
    /// There is no place for it.
    Lost,
}

impl Line {
    /// One of so many vCPUs, without a queue.
    pub(crate) fn closed(vcpus: usize) -> Self {
        Self {
            state: AtomicU64::new(0),
            address: Word::zero(),
            entries: Word::zero(),
            interrupt: Alone(Interrupt { signals: Word::zero(), request: AtomicU64::new(0) }),
            next: Alone(AtomicU64::new(0)),
            marks: (0..vcpus)
                .map(|_| {
                    Alone(UnderWay {
                        mark: AtomicU64::new(FIRST),
                        forgotten: Word::zero(),
                        tag: Word::zero(),
                        disk: Word::zero(),
                    })
                })
                .collect(),
        }
    }

    /// Opens a queue with so many entries, if there is none and nothing is under way: whether it is open.
    pub(crate) fn open(&self, address: u64, entries: u64) -> bool {
        let state = self.state.load(Ordering::Relaxed);
        let is_closed = state & (OPEN | OPENING) == 0;
        let opening = state | OPENING;
        if !is_closed
            || self
                .state
                .compare_exchange(state, opening, Ordering::Acquire, Ordering::Relaxed)
                .is_err()
        {
            return false;
        }
        let is_quiet = self.is_quiet();
        if is_quiet {
            self.address.set(address);
            self.entries.set(entries);
            self.next.0.store(0, Ordering::Relaxed);
        }
        let conversation = (state >> CONVERSATION) + u64::from(is_quiet);
        let state = conversation << CONVERSATION | if is_quiet { OPEN } else { 0 };
        self.state.store(state, Ordering::Release);
        is_quiet
    }

    /// Closes the queue: whether nothing is under way.
    pub(crate) fn free(&self) -> bool {
        self.interrupt.0.signals.set(0);
        self.state.fetch_and(!OPEN, Ordering::Relaxed);
        self.is_quiet()
    }

    /// Whether nothing is under way, behind what was stored before.
    fn is_quiet(&self) -> bool {
        fence(Ordering::SeqCst);
        self.marks.iter().all(|one| one.0.mark.load(Ordering::Acquire) & STAGES == NONE)
    }

    /// Nothing is under way, and there is no queue. Nobody else uses it meanwhile.
    pub(crate) fn reset(&self) {
        self.interrupt.0.signals.set(0);
        self.interrupt.0.request.store(0, Ordering::Relaxed);
        self.state.fetch_and(!OPEN, Ordering::Relaxed);
        (0..self.marks.len()).for_each(|vcpu| self.end(vcpu));
    }

    /// Whether an answer interrupts from now on.
    pub(crate) fn signal(&self, signals: bool) {
        self.interrupt.0.signals.set(u64::from(signals));
        // The guest looks at the queue behind this, and an answer behind its entry whether it signals.
        fence(Ordering::SeqCst);
    }

    /// Whether there was an answer, while one interrupts, since the guest has accepted the interrupt last.
    pub(crate) fn is_requested(&self) -> bool {
        self.interrupt.0.request.load(Ordering::Acquire) != 0
    }

    /// The guest accepts the interrupt.
    pub(crate) fn accepted(&self) {
        self.interrupt.0.request.store(0, Ordering::Relaxed);
        // The guest looks at the queue behind this, and an answer behind its entry whether there is a request.
        fence(Ordering::SeqCst);
    }

    /// A message of a vCPU, which has no other, is under way: in which conversation, if there is one.
    pub(crate) fn begin(&self, vcpu: usize) -> Option<u64> {
        let one = &self.marks[vcpu].0;
        let next = one.mark.load(Ordering::Relaxed) | STAGES;
        one.mark.store(next.wrapping_add(1) | TAKEN, Ordering::Relaxed);
        fence(Ordering::SeqCst);
        let state = self.state.load(Ordering::Acquire);
        if state & OPEN == 0 {
            self.end(vcpu);
            return None;
        }
        Some(state >> CONVERSATION)
    }

    /// A vCPU's message is done with.
    pub(crate) fn end(&self, vcpu: usize) {
        let one = &self.marks[vcpu].0;
        one.mark.store(one.mark.load(Ordering::Relaxed) & !STAGES, Ordering::Release);
    }

    /// A vCPU's message is a command with this tag to this disk, whose data moves from now on.
    pub(crate) fn moves(&self, vcpu: usize, tag: u64, disk: usize) {
        let one = &self.marks[vcpu].0;
        one.tag.set(tag);
        one.disk.set(disk as u64);
        one.mark.store(one.mark.load(Ordering::Relaxed) & !STAGES | MOVES, Ordering::Release);
    }

    /// Whether data of a vCPU's command is to be moved on.
    pub(crate) fn goes_on(&self, vcpu: usize, conversation: u64) -> bool {
        !self.is_forgotten(vcpu) && self.is_in(conversation)
    }

    /// Forgets commands whose data moves, by tag and disk. One vCPU does so at a time.
    pub(crate) fn forget(&self, is_meant: impl Fn(u64, usize) -> bool) {
        for Alone(one) in &self.marks {
            let mark = one.mark.load(Ordering::Acquire);
            if mark & STAGES == MOVES && is_meant(one.tag.get(), one.disk.get() as usize) {
                one.forgotten.set(mark);
            }
        }
    }

    /// Whether a vCPU's command is forgotten, and data of it moves still, or rests.
    pub(crate) fn is_forgotten(&self, vcpu: usize) -> bool {
        let one = &self.marks[vcpu].0;
        one.mark.load(Ordering::Acquire) == one.forgotten.get()
    }

    /// Whether there is such a command.
    pub(crate) fn is_forgetting(&self) -> bool {
        (0..self.marks.len()).any(|vcpu| self.is_forgotten(vcpu))
    }

    /// Whether a conversation goes on.
    pub(crate) fn is_in(&self, conversation: u64) -> bool {
        let state = self.state.load(Ordering::Relaxed);
        state == conversation << CONVERSATION | OPEN
    }

    /// An answer is in the queue: whether an interrupt has to be presented for it. One that the guest has not accepted
    /// yet is presented already, or about to be, and stands for this answer too.
    pub(crate) fn requests(&self) -> bool {
        let Interrupt { signals, request } = &self.interrupt.0;
        let is_first = signals.get() != 0 && request.load(Ordering::Relaxed) == 0;
        if is_first {
            request.store(1, Ordering::Release);
        }
        is_first
    }

    /// Puts an entry where the next one belongs, of a message that is under way. If the guest has not emptied that
    /// place, the queue is closed: the guest has lost an answer, and has to begin anew.
    pub(crate) fn put<H: Windows>(
        &self,
        dma: &Dma<'_, H>,
        conversation: u64,
        [head, rest]: [u64; 2],
    ) -> Result<Put, AccessError> {
        if !self.is_in(conversation) {
            return Ok(Put::Lost);
        }
        let next = self.next.0.fetch_add(1, Ordering::Acquire);
        let at = self.address.get() + next % self.entries.get() * BYTES;
        let put = || {
            let place = dma.place(at, BYTES, true)?;
            dma.place(at, BYTES, false)?;
            let maps = dma.memory.hal.maps();
            let mut window = maps.open(place, BYTES).map_err(AccessError::Hypervisor)?;
            let mut before = [0];
            window.read(0, &mut before);
            if before != [0] {
                return Ok(Put::Lost);
            }
            window.write(8, &rest.to_be_bytes());
            // Who sees the first byte sees the rest.
            fence(Ordering::Release);
            window.write(0, &head.to_be_bytes());
            // See `signal` and `accepted`.
            fence(Ordering::SeqCst);
            Ok(Put::There)
        };
        let put = put();
        if matches!(put, Ok(Put::Lost) | Err(AccessError::Outside(_))) {
            self.free();
        }
        put
    }
}
