//! A virtual SCSI adapter of a partition: the queue that it answers into, its interrupt, and its disks. Adapters of one
//! partition share nothing.
//!
//! Source: `docs/facts/virtual-scsi.md`.

pub(crate) mod line;

use alloc::vec::Vec;

use arch::address::GuestRealAddress;
use arch::scsi::Sense;
use arch::vscsi::{ENTRY_BYTES, QUEUE_LOG2, UNIT_BYTES_MAX, datagram, entry, srp as unit};

use crate::devices::disk::{Disk, Effect, effect};
use crate::devices::dma::Dma;
use crate::devices::source;
use crate::devices::srp::{
    self, Command, Completion, Descriptor, Tag, Unit, completed, doubleword, logged_in, tag,
    target, task_managed, word,
};
use crate::devices::transfer::Transfer;
use crate::guest_memory::AccessError;
use crate::hal::Windows;

use line::{Line, Put};

/// An adapter. Several vCPUs send to it at a time, and need not have locked the partition.
#[derive(Debug)]
pub struct Adapter {
    number: usize,
    line: Line,
    /// Its disks, by target.
    disks: Vec<Disk>,
}

/// Why a queue is not registered.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum QueueError {
    /// It does not lie in whole pages of the window.
    NoPlace,
    /// There is one already, or something of the one before is under way.
    Registered,
}

/// What a message comes to.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Sent {
    /// It is done with, answered or not.
    Done {
        /// The adapter has an interrupt that nobody presents yet.
        interrupts: bool,
    },
    /// Data has to move first: the transfer says which.
    Moves,
    /// Commands that others sent are concerned: [`Adapter::manages`] answers.
    Manages(Task),
    /// There is no queue to answer into.
    Closed,
    /// It is no message.
    Wrong,
}

/// What a message comes to before it is answered.
enum Taken {
    /// This entry is put into the queue.
    Answered([u64; 2]),
    /// Nothing is.
    Silent(Sent),
    /// It is still under way.
    UnderWay(Sent),
}

/// A task-management request: commands that were sent before and are not answered yet are to be forgotten.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Task {
    vcpu: usize,
    conversation: u64,
    answer: u64,
    tag: Tag,
    function: u8,
    target: Option<usize>,
    of: Tag,
}

impl Task {
    fn of(vcpu: usize, conversation: u64, answer: u64, bytes: &Unit) -> Self {
        Self {
            vcpu,
            conversation,
            answer,
            tag: tag(bytes),
            function: bytes[unit::task::FUNCTION],
            target: target(doubleword(&bytes[unit::task::LUN..])),
            of: core::array::from_fn(|index| bytes[unit::task::TAG + index]),
        }
    }

    /// Whether the command with this tag, to this disk, is to be forgotten.
    #[must_use]
    pub fn ends(&self, tag: Tag, disk: usize) -> bool {
        match self.function {
            unit::task::ABORT => tag == self.of,
            unit::task::ABORT_SET | unit::task::CLEAR_SET | unit::task::RESET => {
                self.target == Some(disk)
            }
            _ => false,
        }
    }
}

impl Adapter {
    /// The one with this number, counted from 0, and these disks, for so many vCPUs, none of which talks to it yet.
    #[must_use]
    pub fn new(number: usize, disks: Vec<Disk>, vcpus: usize) -> Self {
        Self { number, line: Line::closed(vcpus), disks }
    }

    /// Its number.
    #[must_use]
    pub const fn number(&self) -> usize {
        self.number
    }

    /// The number of its interrupt source.
    #[must_use]
    pub const fn source(&self) -> u32 {
        source::ADAPTERS + self.number as u32
    }

    /// Whether it wants to interrupt: there was an answer since its interrupt was [accepted](Self::accepted) last.
    pub fn is_requested(&self) -> bool {
        self.line.is_requested()
    }

    /// Its interrupt is accepted. The partition is locked.
    pub fn accepted(&self) {
        self.line.accepted();
    }

    /// Nobody talks to it any more, and it interrupts nobody. The disks stay as they are. All vCPUs are stopped.
    pub fn reset(&self) {
        self.line.reset();
    }

    /// Answers go into this queue from now on.
    ///
    /// # Errors
    /// Why not.
    pub fn register(&self, address: u64, bytes: u64, is_in_window: bool) -> Result<(), QueueError> {
        const PAGE: u64 = 1 << QUEUE_LOG2;
        if bytes == 0
            || !bytes.is_multiple_of(PAGE)
            || !address.is_multiple_of(PAGE)
            || !is_in_window
        {
            return Err(QueueError::NoPlace);
        }
        let is_open = self.line.open(address, bytes / ENTRY_BYTES as u64);
        if is_open { Ok(()) } else { Err(QueueError::Registered) }
    }

    /// There is no queue any more: whether nothing is under way either that reads or writes the partition's memory.
    pub fn free(&self) -> bool {
        self.line.free()
    }

    /// Whether an answer interrupts from now on.
    pub fn signal(&self, signals: bool) {
        self.line.signal(signals);
    }

    /// Takes a message. `transfer` is what it says, if it [`Sent::Moves`] data.
    ///
    /// # Errors
    /// The hypervisor could not do its part.
    pub fn send<H: Windows>(
        &self,
        dma: &Dma<'_, H>,
        message: [u64; 2],
        transfer: &mut Transfer,
    ) -> Result<Sent, AccessError> {
        let Some(conversation) = self.line.begin(transfer.vcpu) else { return Ok(Sent::Closed) };
        transfer.conversation = conversation;
        transfer.adapter = self.number;
        let vcpu = transfer.vcpu;
        match self.take(dma, message, transfer) {
            Ok(Taken::Answered(entry)) => self.post(dma, vcpu, conversation, entry).map(done),
            Ok(Taken::UnderWay(sent)) => Ok(sent),
            Ok(Taken::Silent(sent)) => {
                self.end(vcpu);
                Ok(sent)
            }
            Err(error) => {
                self.end(vcpu);
                Err(error)
            }
        }
    }

    /// A vCPU's message is done with, which nobody answers.
    pub fn end(&self, vcpu: usize) {
        self.line.end(vcpu);
    }

    fn take<H: Windows>(
        &self,
        dma: &Dma<'_, H>,
        [head, address]: [u64; 2],
        transfer: &mut Transfer,
    ) -> Result<Taken, AccessError> {
        const WRONG: Taken = Taken::Silent(Sent::Wrong);
        match (entry::VALID.get(head), entry::FORMAT.get(head)) {
            (entry::INITIALIZATION, entry::BEGINS) => {
                let head = entry::VALID.set(0, entry::INITIALIZATION);
                Ok(Taken::Answered([entry::FORMAT.set(head, entry::COMPLETE), 0]))
            }
            (entry::INITIALIZATION, entry::COMPLETE) => {
                Ok(Taken::Silent(Sent::Done { interrupts: false }))
            }
            (entry::MESSAGE, format @ (entry::SRP | entry::DATAGRAM)) => {
                let length = entry::LENGTH.get(head) as usize;
                let Some(place) = transfer.unit.get_mut(..length) else { return Ok(WRONG) };
                match dma.read(address, place) {
                    Ok(()) => {}
                    Err(AccessError::Outside(_)) => return Ok(WRONG),
                    Err(error) => return Err(error),
                }
                transfer.answer = address;
                transfer.tag = tag(&transfer.unit);
                if format == entry::SRP {
                    self.unit(dma, transfer)
                } else {
                    self.datagram(dma, transfer)
                }
            }
            _ => Ok(WRONG),
        }
    }

    /// Takes an information unit.
    fn unit<H: Windows>(
        &self,
        dma: &Dma<'_, H>,
        transfer: &mut Transfer,
    ) -> Result<Taken, AccessError> {
        let (bytes, tag) = (&mut transfer.unit, transfer.tag);
        let length = match bytes[0] {
            unit::LOGIN_REQUEST => logged_in(bytes, tag),
            unit::LOGOUT => return Ok(Taken::Silent(Sent::Done { interrupts: false })),
            unit::TASK_MANAGEMENT => {
                let task = Task::of(transfer.vcpu, transfer.conversation, transfer.answer, bytes);
                return Ok(Taken::UnderWay(Sent::Manages(task)));
            }
            unit::COMMAND => match self.command(dma, transfer)? {
                Some(completion) => completed(&mut transfer.unit, tag, completion),
                None => {
                    let tag = u64::from_be_bytes(transfer.tag);
                    self.line.moves(transfer.vcpu, tag, transfer.target);
                    return Ok(Taken::UnderWay(Sent::Moves));
                }
            },
            _ => return Ok(Taken::Silent(Sent::Wrong)),
        };
        answered(dma, transfer.answer, tag, entry::SRP, &transfer.unit[..length])
            .map(Taken::Answered)
    }

    /// Answers a task-management request, which was carried out: whether the adapter has an interrupt.
    ///
    /// # Errors
    /// The hypervisor could not do its part.
    pub fn manages<H: Windows>(&self, dma: &Dma<'_, H>, task: &Task) -> Result<bool, AccessError> {
        use unit::task::{ABORT, ABORT_SET, CLEAR_SET, COMPLETE, NOT_SUPPORTED, RESET};
        let is_known = [ABORT, ABORT_SET, CLEAR_SET, RESET].contains(&task.function);
        let mut bytes = [0; UNIT_BYTES_MAX];
        let code = if is_known { COMPLETE } else { NOT_SUPPORTED };
        let length = task_managed(&mut bytes, task.tag, code);
        let whose = (task.vcpu, task.conversation, task.tag);
        self.answer(dma, whose, task.answer, &bytes[..length])
    }

    /// Whether there is data that a command moves, which `transfer` says then; else what the command came to.
    fn command<H: Windows>(
        &self,
        dma: &Dma<'_, H>,
        transfer: &mut Transfer,
    ) -> Result<Option<Completion>, AccessError> {
        let Some(command) = Command::parse(&transfer.unit) else {
            let sense = Some(Sense::INVALID_FIELD);
            return Ok(Some(Completion { sense, ..Completion::NOTHING }));
        };
        // Of one that moves nothing, all that the guest has described is left over; of two directions one is told.
        let described = command.data_in.bytes;
        let nothing = match described {
            0 => Completion {
                writes: true,
                described: command.data_out.bytes,
                ..Completion::NOTHING
            },
            _ => Completion { writes: false, described, ..Completion::NOTHING },
        };
        let target = target(command.lun);
        let disk = target.and_then(|target| self.disks.get(target));
        let effect = match effect(disk, &command.cdb) {
            Ok(effect) => effect,
            Err(sense) => return Ok(Some(Completion { sense: Some(sense), ..nothing })),
        };
        let (target, disk, position, wanted, writes) = match (effect, target, disk) {
            (Effect::Moves { position, bytes, writes }, Some(target), Some(disk)) => {
                (target, disk, position, bytes, writes)
            }
            (Effect::Gives(given), ..) => {
                let wanted = given.bytes().len() as u64;
                let mut completion = Completion { sense: None, writes: false, described, wanted };
                let mut left = &given.bytes()[..wanted.min(described) as usize];
                let mut descriptors = command.data_in;
                match scatter(dma, &transfer.unit, &mut descriptors, &mut left) {
                    Ok(()) => completion.described -= left.len() as u64,
                    Err(AccessError::Outside(_)) => completion.fail(left.len() as u64),
                    Err(error) => return Err(error),
                }
                return Ok(Some(completion));
            }
            _ => return Ok(Some(nothing)),
        };
        let descriptors = if writes { command.data_out } else { command.data_in };
        let described = descriptors.bytes;
        transfer.target = target;
        transfer.writes = writes;
        transfer.place = disk.range.start.wrapping_add(position);
        transfer.left = wanted.min(described);
        transfer.completion = Completion { sense: None, writes, described, wanted };
        transfer.descriptors = descriptors;
        transfer.current = Descriptor::default();
        Ok(None)
    }

    /// Moves a piece of `transfer`: whether it was the last one, so that [`Adapter::finish`] answers.
    ///
    /// # Errors
    /// The hypervisor could not do its part.
    pub fn go_on<H: Windows>(
        &self,
        dma: &Dma<'_, H>,
        transfer: &mut Transfer,
    ) -> Result<bool, AccessError> {
        match transfer.piece(dma) {
            Ok(false) => return Ok(false),
            // What the descriptors hold in all, and not what the unit says of them.
            Ok(true) => transfer.completion.described -= transfer.left,
            Err(AccessError::Outside(_)) => transfer.completion.fail(transfer.left),
            Err(error) => return Err(error),
        }
        Ok(true)
    }

    /// Whether somebody still waits for an answer to `transfer`: else none comes, and no more data moves.
    #[must_use]
    pub fn is_waited_for(&self, transfer: &Transfer) -> bool {
        self.line.goes_on(transfer.vcpu, transfer.conversation)
    }

    /// Forgets the commands whose data vCPUs move, as far as the task ends them. The partition is locked.
    pub fn forget(&self, task: &Task) {
        self.line.forget(|tag, disk| task.ends(tag.to_be_bytes(), disk));
    }

    /// Whether a vCPU's command is forgotten, and not over.
    #[must_use]
    pub fn is_forgotten(&self, vcpu: usize) -> bool {
        self.line.is_forgotten(vcpu)
    }

    /// Whether there is such a command: a vCPU that moves data of it stops behind a piece.
    #[must_use]
    pub fn is_forgetting(&self) -> bool {
        self.line.is_forgetting()
    }

    /// Answers a command whose data has moved: whether the adapter has an interrupt.
    ///
    /// # Errors
    /// The hypervisor could not do its part.
    pub fn finish<H: Windows>(
        &self,
        dma: &Dma<'_, H>,
        transfer: &mut Transfer,
    ) -> Result<bool, AccessError> {
        let Transfer { vcpu, conversation, unit, tag, completion, .. } = transfer;
        let length = completed(unit, *tag, *completion);
        self.answer(dma, (*vcpu, *conversation, *tag), transfer.answer, &unit[..length])
    }

    /// Takes a management datagram.
    fn datagram<H: Windows>(
        &self,
        dma: &Dma<'_, H>,
        transfer: &mut Transfer,
    ) -> Result<Taken, AccessError> {
        let Transfer { unit: bytes, tag, answer, .. } = transfer;
        let length = [bytes[datagram::LENGTH], bytes[datagram::LENGTH + 1]];
        let length = usize::from(u16::from_be_bytes(length));
        let buffer = doubleword(&bytes[datagram::BUFFER..]);
        let done = match word(&bytes[datagram::TYPE..]) {
            datagram::ADAPTER_INFO => {
                let info = information();
                Some(dma.write(buffer, &info[..info.len().min(length)]))
            }
            datagram::CAPABILITIES => Some(withhold_capabilities(dma, buffer, length)),
            // No path is ever lost.
            datagram::FAST_FAIL => Some(Ok(())),
            _ => None,
        };
        let status = match done {
            Some(Ok(())) => datagram::SUCCESS,
            Some(Err(AccessError::Outside(_))) => datagram::FAILED,
            Some(Err(error)) => return Err(error),
            None => datagram::NOT_SUPPORTED,
        };
        bytes[datagram::STATUS..datagram::STATUS + 2].copy_from_slice(&status.to_be_bytes());
        answered(dma, *answer, *tag, entry::DATAGRAM, &bytes[..datagram::HEAD_BYTES])
            .map(Taken::Answered)
    }

    /// Writes the answer of an information unit where that was, and says so: whether the adapter has an interrupt.
    fn answer<H: Windows>(
        &self,
        dma: &Dma<'_, H>,
        (vcpu, conversation, tag): (usize, u64, Tag),
        address: u64,
        bytes: &[u8],
    ) -> Result<bool, AccessError> {
        match answered(dma, address, tag, entry::SRP, bytes) {
            Ok(entry) => self.post(dma, vcpu, conversation, entry),
            Err(error) => {
                self.end(vcpu);
                Err(error)
            }
        }
    }

    /// Puts an entry into the queue of a conversation, whose message is done with then: whether the adapter has an
    /// interrupt. One for which there is no place is lost, and with it the queue.
    fn post<H: Windows>(
        &self,
        dma: &Dma<'_, H>,
        vcpu: usize,
        conversation: u64,
        entry: [u64; 2],
    ) -> Result<bool, AccessError> {
        let interrupts = match self.line.put(dma, conversation, entry) {
            Ok(Put::There) => Ok(self.line.requests()),
            Ok(Put::Lost) | Err(AccessError::Outside(_)) => Ok(false),
            Err(error) => Err(error),
        };
        self.end(vcpu);
        interrupts
    }
}

/// Writes an answer where the question was: the entry that says so.
fn answered<H: Windows>(
    dma: &Dma<'_, H>,
    address: u64,
    tag: Tag,
    format: u64,
    bytes: &[u8],
) -> Result<[u64; 2], AccessError> {
    let status = match dma.write(address, bytes) {
        Ok(()) => entry::DONE,
        Err(AccessError::Outside(_)) => entry::ADAPTER_FAILED,
        Err(error) => return Err(error),
    };
    let head = entry::FORMAT.set(entry::VALID.set(0, entry::MESSAGE), format);
    let head = entry::LENGTH.set(entry::STATUS.set(head, status), bytes.len() as u64);
    Ok([head, u64::from_be_bytes(tag)])
}

const fn done(interrupts: bool) -> Sent {
    Sent::Done { interrupts }
}

/// Descriptors of an answer that are read at most: one of no bytes holds nothing, and nobody waits for a list of these.
const DESCRIPTORS_MAX: usize = 256;

/// Units of memory that the partition gets by one answer at most. A driver's buffer lies in one or two; each is zeroed
/// first, and nobody looks at the time meanwhile.
const UNITS_MAX: u64 = 4;

/// Puts bytes where descriptors say; those are left that have no place, or whose place is in too many units that the
/// partition does not have yet.
fn scatter<H: Windows>(
    dma: &Dma<'_, H>,
    unit: &Unit,
    descriptors: &mut srp::Descriptors,
    left: &mut &[u8],
) -> Result<(), AccessError> {
    dma.memory.gave.take();
    for _ in 0..DESCRIPTORS_MAX {
        if left.is_empty() {
            break;
        }
        let Some(Descriptor { address, bytes: room }) = descriptors.next(dma, unit)? else { break };
        if dma.memory.gave.get() >= UNITS_MAX {
            return Err(AccessError::Outside(GuestRealAddress(address)));
        }
        let room = usize::try_from(room).unwrap_or(usize::MAX);
        let (now, later) = left.split_at(left.len().min(room));
        dma.write(address, now)?;
        *left = later;
    }
    Ok(())
}

/// Says in the guest's list of capabilities, of which so many bytes are there, that the adapter has none of them.
fn withhold_capabilities<H: Windows>(
    dma: &Dma<'_, H>,
    buffer: u64,
    length: usize,
) -> Result<(), AccessError> {
    use datagram::capabilities::{BYTES, FLAGS, MIGRATES, MIGRATION_LEVEL, RESERVATION, RESERVES};
    let mut list = [0; BYTES];
    let list = &mut list[..BYTES.min(length)];
    dma.read(buffer, list)?;
    let fields = [(FLAGS, 4), (MIGRATES, 2), (MIGRATION_LEVEL, 4), (RESERVES, 2), (RESERVATION, 4)];
    for (at, bytes) in fields {
        list.iter_mut().skip(at).take(bytes).for_each(|byte| *byte = 0);
    }
    dma.write(buffer, list)
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

#[cfg(all(test, not(loom)))]
mod tests;
