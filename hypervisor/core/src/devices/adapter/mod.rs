//! The virtual SCSI adapter of a partition: the queue that it answers into, its interrupt, and its disks.
//!
//! Source: `docs/facts/virtual-scsi.md`.

use alloc::boxed::Box;
use alloc::vec::Vec;
use core::sync::atomic::{Ordering, fence};

use arch::scsi::Sense;
use arch::vscsi::{ENTRY_BYTES, QUEUE_LOG2, UNIT_BYTES_MAX, datagram, entry, srp as unit};

use crate::devices::disk::{Disk, Effect, effect};
use crate::devices::dma::Dma;
use crate::devices::srp::{
    self, Command, Completion, Descriptor, Reply, Tag, Unit, completed, doubleword, logged_in, tag,
    target, task_managed, word,
};
use crate::devices::transfer::Transfer;
use crate::guest_memory::AccessError;
use crate::hal::{Memory, Platform};

/// The unit address of the adapter, as the partition's tree says.
pub const UNIT: u32 = 0x3000_0000;

/// The number of its interrupt source, there too.
pub const SOURCE: u32 = 0x1000;

/// Where the adapter answers.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
struct Queue {
    address: u64,
    entries: u64,
    next: u64,
}

/// The adapter.
#[derive(Debug)]
pub struct Adapter {
    queue: Option<Queue>,
    /// Counts queues that were registered: what belongs to an earlier one is not answered.
    conversation: u64,
    /// An answer interrupts.
    signals: bool,
    /// It has answered, and the interrupt for that was not asked for yet.
    has_request: bool,
    /// Its disks, by target.
    pub disks: Vec<Disk>,
}

/// Why a queue is not registered.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum QueueError {
    /// It does not lie in whole pages of the window.
    NoPlace,
    /// There is one already.
    Registered,
}

/// What a message comes to.
#[derive(Debug)]
pub enum Sent {
    /// It is done with, answered or not.
    Done,
    /// Data has to move first.
    Moves(Box<Transfer>),
    /// Commands that others sent are concerned.
    Manages(Task),
    /// There is no queue to answer into.
    Closed,
    /// It is no message.
    Wrong,
}

/// A task-management request: commands that were sent before and are not answered yet are to be forgotten.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Task {
    answer: u64,
    tag: Tag,
    function: u8,
    target: Option<usize>,
    of: Tag,
}

impl Task {
    fn of(answer: u64, bytes: &Unit) -> Self {
        Self {
            answer,
            tag: tag(bytes),
            function: bytes[unit::task::FUNCTION],
            target: target(doubleword(&bytes[unit::task::LUN..])),
            of: core::array::from_fn(|index| bytes[unit::task::TAG + index]),
        }
    }

    /// Whether this one is to be forgotten.
    #[must_use]
    pub fn ends(&self, transfer: &Transfer) -> bool {
        match self.function {
            unit::task::ABORT => transfer.tag == self.of,
            unit::task::ABORT_SET | unit::task::CLEAR_SET | unit::task::RESET => {
                self.target == Some(transfer.disk)
            }
            _ => false,
        }
    }
}

impl Adapter {
    /// One with these disks, that nobody talks to yet.
    #[must_use]
    pub fn new(disks: Vec<Disk>) -> Self {
        Self { queue: None, conversation: 0, signals: false, has_request: false, disks }
    }

    /// Whether it wants to interrupt, since this was asked last.
    pub const fn takes_request(&mut self) -> bool {
        core::mem::replace(&mut self.has_request, false)
    }

    /// Nobody talks to it any more, and it interrupts nobody. The disks stay as they are.
    pub fn reset(&mut self) {
        self.free();
        self.has_request = false;
    }

    /// Answers go into this queue from now on.
    ///
    /// # Errors
    /// Why not.
    pub fn register(
        &mut self,
        address: u64,
        bytes: u64,
        is_in_window: bool,
    ) -> Result<(), QueueError> {
        const PAGE: u64 = 1 << QUEUE_LOG2;
        if bytes == 0
            || !bytes.is_multiple_of(PAGE)
            || !address.is_multiple_of(PAGE)
            || !is_in_window
        {
            return Err(QueueError::NoPlace);
        }
        if self.queue.is_some() {
            return Err(QueueError::Registered);
        }
        self.queue = Some(Queue { address, entries: bytes / ENTRY_BYTES as u64, next: 0 });
        self.conversation += 1;
        Ok(())
    }

    /// There is no queue any more.
    pub fn free(&mut self) {
        self.queue = None;
        self.signals = false;
    }

    /// Whether an answer interrupts from now on.
    pub fn signal(&mut self, signals: bool) {
        self.signals = signals;
    }

    /// Takes a message.
    ///
    /// # Errors
    /// The hypervisor could not do its part.
    pub fn send<H: Memory + Platform>(
        &mut self,
        dma: &mut Dma<'_, H>,
        message: [u64; 2],
    ) -> Result<Sent, AccessError> {
        if self.queue.is_none() {
            return Ok(Sent::Closed);
        }
        let [head, address] = message;
        match (entry::VALID.get(head), entry::FORMAT.get(head)) {
            (entry::INITIALIZATION, entry::BEGINS) => {
                let head = entry::VALID.set(0, entry::INITIALIZATION);
                self.post(dma, [entry::FORMAT.set(head, entry::COMPLETE), 0])?;
                Ok(Sent::Done)
            }
            (entry::INITIALIZATION, entry::COMPLETE) => Ok(Sent::Done),
            (entry::MESSAGE, format @ (entry::SRP | entry::DATAGRAM)) => {
                let length = entry::LENGTH.get(head) as usize;
                let mut bytes = [0; UNIT_BYTES_MAX];
                let Some(place) = bytes.get_mut(..length) else { return Ok(Sent::Wrong) };
                match dma.read(address, place) {
                    Ok(()) => {}
                    Err(AccessError::Outside(_)) => return Ok(Sent::Wrong),
                    Err(error) => return Err(error),
                }
                if format == entry::SRP {
                    self.unit(dma, address, &bytes)
                } else {
                    self.datagram(dma, address, bytes)
                }
            }
            _ => Ok(Sent::Wrong),
        }
    }

    /// Takes an information unit, which lies at `address`, where its answer goes too.
    fn unit<H: Memory + Platform>(
        &mut self,
        dma: &mut Dma<'_, H>,
        address: u64,
        bytes: &Unit,
    ) -> Result<Sent, AccessError> {
        let tag = tag(bytes);
        let reply = match bytes[0] {
            unit::LOGIN_REQUEST => logged_in(tag),
            unit::LOGOUT => return Ok(Sent::Done),
            unit::TASK_MANAGEMENT => return Ok(Sent::Manages(Task::of(address, bytes))),
            unit::COMMAND => match self.command(dma, address, bytes)? {
                Ok(transfer) => return Ok(Sent::Moves(Box::new(transfer))),
                Err(completion) => completed(tag, completion),
            },
            _ => return Ok(Sent::Wrong),
        };
        self.answer(dma, address, tag, entry::SRP, &reply)?;
        Ok(Sent::Done)
    }

    /// Answers a task-management request, which was carried out.
    ///
    /// # Errors
    /// The hypervisor could not do its part.
    pub fn manages<H: Memory + Platform>(
        &mut self,
        dma: &mut Dma<'_, H>,
        task: &Task,
    ) -> Result<(), AccessError> {
        use unit::task::{ABORT, ABORT_SET, CLEAR_SET, COMPLETE, NOT_SUPPORTED, RESET};
        let is_known = [ABORT, ABORT_SET, CLEAR_SET, RESET].contains(&task.function);
        let reply = task_managed(task.tag, if is_known { COMPLETE } else { NOT_SUPPORTED });
        self.answer(dma, task.answer, task.tag, entry::SRP, &reply)
    }

    /// What a command moves, or what it came to at once.
    fn command<H: Memory + Platform>(
        &self,
        dma: &mut Dma<'_, H>,
        address: u64,
        bytes: &Unit,
    ) -> Result<Result<Transfer, Completion>, AccessError> {
        let refused = |sense, described| {
            Err(Completion { sense: Some(sense), writes: false, described, wanted: 0 })
        };
        let Some(command) = Command::parse(bytes) else {
            return Ok(refused(Sense::INVALID_FIELD, 0));
        };
        let target = target(command.lun);
        let disk = target.and_then(|target| self.disks.get(target));
        let described = command.data_in.bytes;
        let effect = match effect(disk, &command.cdb) {
            Ok(effect) => effect,
            Err(sense) => return Ok(refused(sense, described)),
        };
        let (disk, position, wanted, writes) = match (effect, target) {
            (Effect::Moves { position, bytes, writes }, Some(target)) => {
                (target, position, bytes, writes)
            }
            (Effect::Gives(given), _) => {
                let (bytes, mut descriptors) = (given.bytes(), command.data_in);
                let wanted = bytes.len() as u64;
                let sense = match scatter(dma, &mut descriptors, bytes) {
                    Ok(()) => None,
                    Err(AccessError::Outside(_)) => Some(Sense::DATA_PHASE_ERROR),
                    Err(error) => return Err(error),
                };
                return Ok(Err(Completion { sense, writes: false, described, wanted }));
            }
            _ => return Ok(Err(Completion { sense: None, writes: false, described, wanted: 0 })),
        };
        let descriptors = if writes { command.data_out } else { command.data_in };
        let described = descriptors.bytes;
        let completion = Completion { sense: None, writes, described, wanted };
        Ok(Ok(Transfer {
            answer: address,
            tag: tag(bytes),
            conversation: self.conversation,
            disk,
            writes,
            position,
            left: wanted.min(described),
            completion,
            descriptors,
            current: Descriptor::default(),
        }))
    }

    /// Moves a piece of `transfer`, and answers when that was the last one: whether it was.
    ///
    /// # Errors
    /// The hypervisor could not do its part.
    pub fn go_on<H: Memory + Platform>(
        &mut self,
        dma: &mut Dma<'_, H>,
        transfer: &mut Transfer,
    ) -> Result<bool, AccessError> {
        if transfer.conversation != self.conversation || self.queue.is_none() {
            return Ok(true);
        }
        let mut completion = transfer.completion;
        match self.disks.get(transfer.disk).map(|disk| transfer.piece(dma, disk)) {
            Some(Ok(false)) => return Ok(false),
            // What the descriptors hold in all, and not what the unit says of them.
            Some(Ok(true)) => completion.described -= transfer.left,
            Some(Err(AccessError::Outside(_))) | None => {
                completion.sense = Some(Sense::DATA_PHASE_ERROR);
            }
            Some(Err(error)) => return Err(error),
        }
        let reply = completed(transfer.tag, completion);
        self.answer(dma, transfer.answer, transfer.tag, entry::SRP, &reply)?;
        Ok(true)
    }

    /// Takes a management datagram, which lies at `address`, where its answer goes too.
    fn datagram<H: Memory + Platform>(
        &mut self,
        dma: &mut Dma<'_, H>,
        address: u64,
        mut bytes: Unit,
    ) -> Result<Sent, AccessError> {
        let status = match word(&bytes[datagram::TYPE..]) {
            datagram::ADAPTER_INFO => {
                let length = [bytes[datagram::LENGTH], bytes[datagram::LENGTH + 1]];
                let length = usize::from(u16::from_be_bytes(length));
                let info = information();
                let info = &info[..info.len().min(length)];
                match dma.write(doubleword(&bytes[datagram::BUFFER..]), info) {
                    Ok(()) => datagram::SUCCESS,
                    Err(AccessError::Outside(_)) => datagram::FAILED,
                    Err(error) => return Err(error),
                }
            }
            _ => datagram::NOT_SUPPORTED,
        };
        bytes[datagram::STATUS..datagram::STATUS + 2].copy_from_slice(&status.to_be_bytes());
        let tag = tag(&bytes);
        self.answer(dma, address, tag, entry::DATAGRAM, &(bytes, datagram::BYTES))?;
        Ok(Sent::Done)
    }

    /// Writes an answer where the question was, and says so.
    fn answer<H: Memory + Platform>(
        &mut self,
        dma: &mut Dma<'_, H>,
        address: u64,
        tag: Tag,
        format: u64,
        (bytes, length): &Reply,
    ) -> Result<(), AccessError> {
        let status = match dma.write(address, &bytes[..*length]) {
            Ok(()) => entry::DONE,
            Err(AccessError::Outside(_)) => entry::ADAPTER_FAILED,
            Err(error) => return Err(error),
        };
        let head = entry::FORMAT.set(entry::VALID.set(0, entry::MESSAGE), format);
        let head = entry::LENGTH.set(entry::STATUS.set(head, status), *length as u64);
        self.post(dma, [head, u64::from_be_bytes(tag)])
    }

    /// Puts an entry into the queue, and interrupts if the guest wants that. One for which there is no place is lost.
    fn post<H: Memory + Platform>(
        &mut self,
        dma: &mut Dma<'_, H>,
        [head, rest]: [u64; 2],
    ) -> Result<(), AccessError> {
        let Some(queue) = &mut self.queue else { return Ok(()) };
        match put(dma, queue, head, rest) {
            Ok(true) => queue.next = (queue.next + 1) % queue.entries,
            Ok(false) | Err(AccessError::Outside(_)) => return Ok(()),
            Err(error) => return Err(error),
        }
        if self.signals {
            self.has_request = true;
        }
        Ok(())
    }
}

/// Puts an entry where the next one of a queue belongs: whether there was a place.
fn put<H: Memory + Platform>(
    dma: &mut Dma<'_, H>,
    queue: &Queue,
    head: u64,
    rest: u64,
) -> Result<bool, AccessError> {
    let at = queue.address + queue.next * ENTRY_BYTES as u64;
    let mut before = [0];
    dma.read(at, &mut before)?;
    if before != [0] {
        return Ok(false);
    }
    dma.write(at + 8, &rest.to_be_bytes())?;
    // Who sees the first byte sees the rest.
    fence(Ordering::Release);
    dma.write(at, &head.to_be_bytes())?;
    Ok(true)
}

/// Puts bytes where descriptors say.
fn scatter<H: Memory + Platform>(
    dma: &mut Dma<'_, H>,
    descriptors: &mut srp::Descriptors,
    mut bytes: &[u8],
) -> Result<(), AccessError> {
    // One of no bytes holds nothing; a list of nothing else ends here.
    for _ in 0..=bytes.len() {
        if bytes.is_empty() {
            break;
        }
        let Some(Descriptor { address, bytes: room }) = descriptors.next(dma)? else { break };
        let (now, later) =
            bytes.split_at(bytes.len().min(usize::try_from(room).unwrap_or(usize::MAX)));
        dma.write(address, now)?;
        bytes = later;
    }
    Ok(())
}

/// What the adapter says of itself.
fn information() -> [u8; datagram::info::BYTES] {
    use datagram::info;
    let mut bytes = [0; info::BYTES];
    let mut put = |at: usize, value: &[u8]| bytes[at..at + value.len()].copy_from_slice(value);
    put(info::SRP_VERSION, b"16.a");
    put(info::NAME, b"PowerVisor");
    put(info::VERSION, &1u32.to_be_bytes());
    put(info::SYSTEM, &info::LINUX.to_be_bytes());
    put(info::TRANSFER_MAX, &TRANSFER_BYTES_MAX.to_be_bytes());
    bytes
}

/// Bytes of the longest transfer that guests should ask for.
const TRANSFER_BYTES_MAX: u32 = 1 << 20;

#[cfg(test)]
mod tests;
