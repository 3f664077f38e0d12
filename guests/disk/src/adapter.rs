//! The payload's side of its virtual SCSI adapters: their queues, commands, and where data lies.

use core::sync::atomic::Ordering::{Acquire, Relaxed, Release, SeqCst};
use core::sync::atomic::{AtomicU64, AtomicUsize, fence};

use arch::papr::{Hypercall, status, tce};
use arch::scsi::{CHECK_CONDITION, GOOD, Sense};
use arch::vscsi::{ENTRY_BYTES, UNIT_BYTES_MAX, entry, srp};

/// Bytes of a block.
pub(crate) const BLOCK_BYTES: u64 = 512;
/// Bytes of a vCPU's buffer.
pub(crate) const BUFFER_BYTES: u64 = 0x1_0000;
/// vCPUs for which there is room.
pub(crate) const VCPUS_MAX: u64 = 32;
/// Commands that a vCPU has under way at a time, at most.
pub(crate) const DEPTH_MAX: u64 = 32;
/// Adapters for which there is room.
pub(crate) const ADAPTERS_MAX: usize = 16;
/// Pieces of a transfer at most.
pub(crate) const PIECES_MAX: usize = 64;

/// Where things are, from the beginning of the shared memory, and so in each window too: first the queue of the first
/// adapter, beside what its commands are made of, and the queues of the others at the end.
const QUEUE_BYTES_MAX: u64 = queue_bytes(VCPUS_MAX, DEPTH_MAX);
const UNITS: u64 = QUEUE_BYTES_MAX;
const TABLES: u64 = UNITS + VCPUS_MAX * DEPTH_MAX * UNIT_BYTES_MAX as u64;
const TABLE_BYTES: u64 = (PIECES_MAX * srp::DESCRIPTOR_BYTES) as u64;
const BUFFERS: u64 = (TABLES + VCPUS_MAX * TABLE_BYTES).next_multiple_of(0x1_0000);
const OTHER_QUEUES: u64 = BUFFERS + VCPUS_MAX * BUFFER_BYTES;
/// Nothing behind this is visible to an adapter.
pub(crate) const SHARED_BYTES: u64 = OTHER_QUEUES + (ADAPTERS_MAX as u64 - 1) * QUEUE_BYTES_MAX;

/// Twice as many entries as answers that may be outstanding: nobody finds an entry that another vCPU has not cleared
/// yet.
const fn queue_bytes(vcpus: u64, depth: u64) -> u64 {
    (2 * vcpus * depth * ENTRY_BYTES as u64).next_multiple_of(0x1000)
}

/// What the adapters see of the payload's memory. Pages of it are whole.
#[repr(align(0x10000))]
struct Shared([AtomicU64; SHARED_BYTES as usize / 8]);

static SHARED: Shared = Shared([const { AtomicU64::new(0) }; SHARED_BYTES as usize / 8]);
/// What is in cache lines of its own.
#[repr(align(128))]
pub(crate) struct Alone<T>(pub(crate) T);

/// The next entry of each queue, which all vCPUs of its adapter count.
static NEXT: [Alone<AtomicUsize>; ADAPTERS_MAX] = [const { Alone(AtomicUsize::new(0)) }; _];
/// Adapters, and what the tree says of each. They do not change while commands are under way.
static COUNT: AtomicUsize = AtomicUsize::new(0);
static ADAPTERS: [Adapter; ADAPTERS_MAX] = [const {
    Adapter {
        unit: AtomicU64::new(0),
        source: AtomicU64::new(0),
        window: AtomicU64::new(0),
        queue_bytes: AtomicU64::new(0),
    }
}; _];

/// An adapter.
struct Adapter {
    unit: AtomicU64,
    source: AtomicU64,
    /// The number of its window.
    window: AtomicU64,
    queue_bytes: AtomicU64,
}

/// Adapters.
pub(crate) fn adapters() -> usize {
    COUNT.load(Relaxed)
}

/// The adapter that a vCPU uses.
pub(crate) fn adapter_of(vcpu: u64) -> usize {
    vcpu as usize % adapters()
}

/// Its unit address.
pub(crate) fn unit(adapter: usize) -> u64 {
    ADAPTERS[adapter].unit.load(Relaxed)
}

/// The number of its interrupt.
pub(crate) fn source(adapter: usize) -> u32 {
    ADAPTERS[adapter].source.load(Relaxed) as u32
}

/// Whether this is the number of an adapter's interrupt.
pub(crate) fn is_source(number: u32) -> bool {
    (0..adapters()).any(|adapter| source(adapter) == number)
}

/// A vCPU's commands that are under way, by tag: [`ANSWERED`] says that the answer is there, and 0 that none was sent.
#[repr(align(256))]
struct UnderWay([AtomicU64; DEPTH_MAX as usize]);

static UNDER_WAY: [UnderWay; VCPUS_MAX as usize] =
    [const { UnderWay([const { AtomicU64::new(0) }; DEPTH_MAX as usize]) }; _];
const ANSWERED: u64 = 1 << 63;

/// The word of the shared memory at so many bytes.
pub(crate) fn shared(offset: u64) -> &'static AtomicU64 {
    &SHARED.0[offset as usize / 8]
}

/// Whoever sends what was stored orders it before.
fn store(offset: u64, bytes: &[u8]) {
    for (index, word) in bytes.as_chunks::<8>().0.iter().enumerate() {
        shared(offset + 8 * index as u64).store(u64::from_ne_bytes(*word), Relaxed);
    }
}

/// Doublewords of the shared memory as bytes.
pub(crate) fn load<const WORDS: usize>(offset: u64) -> [[u8; 8]; WORDS] {
    let words = core::array::from_fn(|index| shared(offset + 8 * index as u64).load(Relaxed));
    fence(Acquire);
    words.map(u64::to_ne_bytes)
}

/// Which way data goes.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Direction {
    /// To the disk.
    Out,
    /// From the disk.
    In,
}

/// What came of a command.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Answer {
    /// Why it was refused, if it was.
    pub(crate) sense: Option<Sense>,
    /// Flags about bytes that are left over, and how many: to the disk, from it.
    pub(crate) residual: (u8, u32, u32),
}

/// Where the data of a vCPU's command lies: pieces of the window, address and length.
pub(crate) type Pieces<'a> = &'a [(u64, u64)];

/// Where a vCPU's buffer begins.
pub(crate) const fn buffer(vcpu: u64) -> u64 {
    BUFFERS + vcpu * BUFFER_BYTES
}

/// Makes the shared memory visible to all adapters, and says hello, for so many vCPUs with `depth` commands each.
pub(crate) fn open(partition: rt::Partition, depth: u64) {
    let vcpus = u64::from(partition.vcpus());
    let mut found = 0;
    while let Some(rt::ScsiAdapter { unit, source, window }) = partition.scsi_adapter(found) {
        assert!(found < ADAPTERS_MAX, "no more than {ADAPTERS_MAX} adapters");
        let adapter = &ADAPTERS[found];
        adapter.unit.store(unit.into(), SeqCst);
        adapter.source.store(source.into(), SeqCst);
        adapter.window.store(window.into(), SeqCst);
        found += 1;
    }
    assert!(found > 0, "no disk: see `disks`");
    COUNT.store(found, SeqCst);
    (0..found).for_each(|adapter| {
        // The first one has a vCPU more than the last one, at most.
        open_queue(adapter, queue_bytes(vcpus.div_ceil(found as u64), depth));
    });
}

/// Makes the shared memory visible to an adapter, and says hello.
fn open_queue(adapter: usize, bytes: u64) {
    // Effective and guest real addresses are equal.
    show(adapter, 0, SHARED.0.as_ptr().expose_provenance() as u64, SHARED_BYTES);
    ADAPTERS[adapter].queue_bytes.store(bytes, SeqCst);
    let (unit, queue) = (unit(adapter), queue(adapter));
    expect(Hypercall::SendCrq, [unit, 0xC001 << 48, 0, 0], status::H_CLOSED);
    expect(Hypercall::RegCrq, [unit, queue, bytes, 0], status::H_SUCCESS);
    expect(Hypercall::RegCrq, [unit, queue, bytes, 0], status::H_RESOURCE);
    expect(Hypercall::SendCrq, [unit, 0xC001 << 48, 0, 0], status::H_SUCCESS);
    assert_eq!(take(adapter), [0xC002 << 48, 0], "the adapter is there");
    let mut login = [0; 64];
    login[0] = srp::LOGIN_REQUEST;
    let [head, ..] = ask::<7>(adapter, 0, &login);
    assert_eq!(head[0], srp::LOGIN_RESPONSE, "login");
}

/// Where an adapter's queue begins.
const fn queue(adapter: usize) -> u64 {
    match adapter {
        0 => 0,
        other => OTHER_QUEUES + (other as u64 - 1) * QUEUE_BYTES_MAX,
    }
}

/// Makes `bytes` of memory at `base` visible to an adapter, at `place` of its window.
fn show(adapter: usize, place: u64, base: u64, bytes: u64) {
    let window = ADAPTERS[adapter].window.load(SeqCst);
    for offset in (0..bytes).step_by(1 << tce::PAGE_LOG2) {
        let (address, entry) = (place + offset, (base + offset) | tce::READ | tce::WRITE);
        let answer = rt::hypercall(Hypercall::PutTce as u64, [window, address, entry, 0]);
        assert_eq!(answer, status::H_SUCCESS, "{address:#x} is in no window: see `dma_window`");
    }
}

/// Makes memory behind the shared memory visible to all adapters: where it begins in their windows.
pub(crate) fn show_more(memory: &'static [AtomicU64]) -> u64 {
    let base = memory.as_ptr().expose_provenance() as u64;
    (0..adapters())
        .for_each(|adapter| show(adapter, SHARED_BYTES, base, size_of_val(memory) as u64));
    SHARED_BYTES
}

/// Makes a vCPU's buffer visible behind the shared memory to one adapter, and to no other: where it begins there.
pub(crate) fn show_alone(adapter: usize, vcpu: u64) -> u64 {
    let base = SHARED.0.as_ptr().expose_provenance() as u64 + buffer(vcpu);
    show(adapter, SHARED_BYTES, base, BUFFER_BYTES);
    SHARED_BYTES
}

/// Makes a call that has to answer `status`.
#[track_caller]
pub(crate) fn expect(call: Hypercall, arguments: [u64; 4], status: i64) {
    assert_eq!(rt::hypercall(call as u64, arguments), status, "{}", call.name());
}

/// Whether an adapter interrupts.
pub(crate) fn signal(adapter: usize, on: bool) {
    expect(Hypercall::VioSignal, [unit(adapter), u64::from(on), 0, 0], status::H_SUCCESS);
}

/// Looks at an entry of the queue, before it is certain that no answer comes there.
const PATIENCE: u32 = 10_000_000;

/// Takes the next entry of an adapter's queue. Each vCPU takes one when it has sent one: as many answers are there, or
/// are just being written by another vCPU's call.
///
/// # Panics
/// There is none.
pub(crate) fn take(adapter: usize) -> [u64; 2] {
    let next = (NEXT[adapter].0.fetch_add(1, SeqCst) * ENTRY_BYTES) as u64;
    let place = queue(adapter) + next % ADAPTERS[adapter].queue_bytes.load(Relaxed);
    for _ in 0..PATIENCE {
        let [head] = load(place).map(u64::from_be_bytes);
        if entry::VALID.get(head) != 0 {
            // Behind the head, which says that it is there.
            let [rest] = load(place + 8).map(u64::from_be_bytes);
            shared(place).store(0, SeqCst);
            return [head, rest];
        }
        core::hint::spin_loop();
    }
    panic!("an answer is there");
}

/// Where the unit of a vCPU's command in this slot is.
const fn unit_place(vcpu: u64, slot: u64) -> u64 {
    UNITS + (slot * VCPUS_MAX + vcpu) * UNIT_BYTES_MAX as u64
}

/// Sends an adapter the information unit of a vCPU that belongs into this slot.
fn send(adapter: usize, vcpu: u64, slot: u64, information: &[u8]) {
    let place = unit_place(vcpu, slot);
    store(place, information);
    fence(SeqCst);
    let head = entry::FORMAT.set(entry::VALID.set(0, entry::MESSAGE), entry::SRP);
    let head = entry::LENGTH.set(head, information.len() as u64);
    expect(Hypercall::SendCrq, [unit(adapter), head, place, 0], status::H_SUCCESS);
}

/// Sends an adapter a vCPU's information unit: what was answered.
fn ask<const WORDS: usize>(adapter: usize, vcpu: u64, unit: &[u8]) -> [[u8; 8]; WORDS] {
    send(adapter, vcpu, 0, unit);
    answer(adapter, vcpu)
}

/// The next answer, which has to be to a vCPU's only unit.
fn answer<const WORDS: usize>(adapter: usize, vcpu: u64) -> [[u8; 8]; WORDS] {
    const { assert!(8 * WORDS <= UNIT_BYTES_MAX) };
    let [head, _] = take(adapter);
    assert_eq!(entry::STATUS.get(head), entry::DONE, "the answer was written");
    load(unit_place(vcpu, 0))
}

/// A command to a disk.
#[derive(Clone, Copy)]
pub(crate) struct Command<'a> {
    /// The adapter of the disk.
    pub(crate) adapter: usize,
    /// The disk's number there.
    pub(crate) target: u64,
    /// What it is to do.
    pub(crate) cdb: &'a [u8],
    /// Which way data goes.
    pub(crate) direction: Direction,
    /// Where it lies.
    pub(crate) pieces: Pieces<'a>,
}

impl Command<'_> {
    /// Sends its information unit, of a vCPU, in this slot.
    #[inline]
    fn send(&self, vcpu: u64, slot: u64, tag: u64) {
        let mut unit = [0; UNIT_BYTES_MAX];
        unit[0] = srp::COMMAND;
        // A tag of the payload's own, in its own byte order.
        unit[8..16].copy_from_slice(&tag.to_ne_bytes());
        unit[20..28].copy_from_slice(&((0x8000 | self.target << 8) << 48).to_be_bytes());
        unit[srp::command::CDB..srp::command::CDB + self.cdb.len()].copy_from_slice(self.cdb);
        let format = match self.pieces.len() {
            0 => srp::NO_DATA,
            1 => srp::DIRECT,
            _ => srp::INDIRECT,
        };
        // As many as Linux has in the unit itself; all are in the table.
        let in_unit = self.pieces.len().min(10);
        let (shift, count) = match self.direction {
            Direction::Out => (4, srp::command::OUT_COUNT),
            Direction::In => (0, srp::command::IN_COUNT),
        };
        unit[srp::command::FORMATS] = format << shift;
        unit[count] = in_unit as u8;
        let mut at = srp::command::REST;
        let mut put = |bytes: &[u8]| {
            unit[at..at + bytes.len()].copy_from_slice(bytes);
            at += bytes.len();
        };
        match self.pieces {
            [] => {}
            [piece] => put(&descriptor(*piece)),
            all => {
                let table = TABLES + vcpu * TABLE_BYTES;
                for (index, piece) in all.iter().enumerate() {
                    store(table + (index * srp::DESCRIPTOR_BYTES) as u64, &descriptor(*piece));
                }
                put(&descriptor((table, (all.len() * srp::DESCRIPTOR_BYTES) as u64)));
                let bytes: u64 = all.iter().map(|(_, bytes)| bytes).sum();
                put(&(bytes as u32).to_be_bytes());
                all[..in_unit].iter().for_each(|piece| put(&descriptor(*piece)));
            }
        }
        send(self.adapter, vcpu, slot, &unit);
    }
}

/// What an answer with this tag says.
#[inline]
fn parse(answer: &[[u8; 8]; 7], tag: u64) -> Answer {
    let byte = |at: usize| answer[at / 8][at % 8];
    let word = |at: usize| u32::from_be_bytes(core::array::from_fn(|index| byte(at + index)));
    assert_eq!(byte(0), srp::RESPONSE);
    assert_eq!(answer[1], tag.to_ne_bytes(), "the tag comes back");
    let sense = match byte(srp::response::STATUS) {
        GOOD => None,
        CHECK_CONDITION => {
            let at = |offset| byte(srp::response::DATA + offset);
            Some(Sense { key: at(2), code: at(12), qualifier: at(13) })
        }
        other => panic!("status {other:#x}"),
    };
    let residual = (
        byte(srp::response::FLAGS) & !srp::response::HAS_SENSE,
        word(srp::response::OUT_RESIDUAL),
        word(srp::response::IN_RESIDUAL),
    );
    Answer { sense, residual }
}

/// Of all tags.
const TAG: u64 = 0x7A61 << 48;

/// Sends a command of `vcpu`, and waits for its answer.
pub(crate) fn command(vcpu: u64, command: Command<'_>) -> Answer {
    let tag = TAG | vcpu;
    command.send(vcpu, 0, tag);
    parse(&answer(command.adapter, vcpu), tag)
}

/// A vCPU's commands, of which up to `depth` are under way.
///
/// Whoever takes an answer notes by its tag that it is there, whosever it is. Each vCPU takes as many as it has sent,
/// and reads those of its own.
pub(crate) struct Flight {
    vcpu: u64,
    /// The one that it uses.
    pub(crate) adapter: usize,
    depth: u64,
    sent: u64,
    taken: u64,
}

impl Flight {
    /// Of a vCPU, none yet.
    pub(crate) fn new(vcpu: u64, depth: u64) -> Self {
        assert!(vcpu < VCPUS_MAX && depth >= 1 && depth <= DEPTH_MAX);
        Self { vcpu, adapter: adapter_of(vcpu), depth, sent: 0, taken: 0 }
    }

    /// The slot of the next command. If it has one under way, that is awaited, and has to be well.
    pub(crate) fn slot(&mut self) -> u64 {
        let slot = self.sent % self.depth;
        self.wait_for(slot);
        slot
    }

    /// Sends a command, which [`Flight::slot`] has a slot for.
    pub(crate) fn send(&mut self, slot: u64, command: &Command<'_>) {
        let tag = TAG | self.vcpu << 40 | slot << 32 | self.sent & 0xFFFF_FFFF;
        // Ordered by the fence before the call.
        UNDER_WAY[self.vcpu as usize].0[slot as usize].store(tag, Relaxed);
        command.send(self.vcpu, slot, tag);
        self.sent += 1;
    }

    /// Waits for all.
    pub(crate) fn finish(&mut self) {
        (0..self.depth).for_each(|slot| self.wait_for(slot));
        self.take_all();
    }

    /// Takes as many answers as there are for the commands sent, whosever they are.
    pub(crate) fn take_all(&mut self) {
        while self.taken < self.sent {
            self.take();
        }
    }

    /// Waits for the answer to the command in a slot, if there is one, and reads it.
    fn wait_for(&mut self, slot: u64) {
        let state = &UNDER_WAY[self.vcpu as usize].0[slot as usize];
        let tag = state.load(Relaxed) & !ANSWERED;
        if tag == 0 {
            return;
        }
        let mut looks = 0;
        while state.load(Acquire) == tag {
            if self.taken < self.sent {
                self.take();
            } else {
                // Another vCPU has taken it, and is about to say so.
                looks += 1;
                assert!(looks < PATIENCE, "tag {tag:#x} was never answered");
                core::hint::spin_loop();
            }
        }
        let answer = parse(&load(unit_place(self.vcpu, slot)), tag);
        assert_eq!((answer.sense, answer.residual), (None, (0, 0, 0)), "tag {tag:#x}");
        state.store(0, Relaxed);
    }

    /// Takes an answer of the adapter, whosever it is.
    fn take(&mut self) {
        let [head, rest] = take(self.adapter);
        assert_eq!(entry::STATUS.get(head), entry::DONE, "the answer was written");
        let tag = u64::from_ne_bytes(rest.to_be_bytes());
        let (vcpu, slot) = ((tag >> 40 & 0xFF) as usize, (tag >> 32 & 0xFF) as usize);
        let state = UNDER_WAY.get(vcpu).and_then(|one| one.0.get(slot));
        let state = state.filter(|state| state.load(Relaxed) == tag);
        let state = state.expect("an answer is to a command that is under way, and comes once");
        state.store(tag | ANSWERED, Release);
        self.taken += 1;
    }
}

fn descriptor((address, bytes): (u64, u64)) -> [u8; srp::DESCRIPTOR_BYTES] {
    let mut descriptor = [0; srp::DESCRIPTOR_BYTES];
    descriptor[..8].copy_from_slice(&address.to_be_bytes());
    descriptor[12..].copy_from_slice(&(bytes as u32).to_be_bytes());
    descriptor
}

/// READ (10) or WRITE (10) of so many blocks.
pub(crate) fn moves(direction: Direction, first: u64, blocks: u64) -> [u8; 10] {
    use arch::scsi::operation::{READ_10, WRITE_10};
    let mut cdb = [0; 10];
    cdb[0] = if direction == Direction::Out { WRITE_10 } else { READ_10 };
    cdb[2..6].copy_from_slice(&(first as u32).to_be_bytes());
    cdb[7..9].copy_from_slice(&(blocks as u16).to_be_bytes());
    cdb
}
