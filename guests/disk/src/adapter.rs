//! The payload's side of the virtual SCSI adapter: its queue, commands, and where their data lies.

use core::sync::atomic::Ordering::{Acquire, Relaxed, SeqCst};
use core::sync::atomic::{AtomicU64, AtomicUsize, fence};

use arch::papr::{Hypercall, status, tce};
use arch::scsi::{CHECK_CONDITION, GOOD, Sense};
use arch::vscsi::{ENTRY_BYTES, UNIT_BYTES_MAX, entry, srp};

/// Its unit address.
pub(crate) const UNIT: u64 = 0x3000_0000;
/// The number of its interrupt.
pub(crate) const SOURCE: u32 = 0x1000;
/// Bytes of a block.
pub(crate) const BLOCK_BYTES: u64 = 512;
/// Bytes of a vCPU's buffer.
pub(crate) const BUFFER_BYTES: u64 = 0x1_0000;
/// vCPUs for which there is room.
pub(crate) const VCPUS_MAX: u64 = 16;
/// Pieces of a transfer at most.
pub(crate) const PIECES_MAX: usize = 64;

/// Where things are, from the beginning of the shared memory, and so in the window too.
const UNITS: u64 = 0x1000;
const TABLES: u64 = 0x2000;
const TABLE_BYTES: u64 = (PIECES_MAX * srp::DESCRIPTOR_BYTES) as u64;
const BUFFERS: u64 = 0x1_0000;
const SHARED_BYTES: u64 = BUFFERS + VCPUS_MAX * BUFFER_BYTES;
const QUEUE_BYTES: u64 = 0x1000;

/// What the adapter sees of the payload's memory. Pages of it are whole.
#[repr(align(0x10000))]
struct Shared([AtomicU64; SHARED_BYTES as usize / 8]);

static SHARED: Shared = Shared([const { AtomicU64::new(0) }; SHARED_BYTES as usize / 8]);
/// The queue's next entry.
static NEXT: AtomicUsize = AtomicUsize::new(0);

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

/// Makes the shared memory visible to the adapter, and says hello.
pub(crate) fn open() {
    let pages = SHARED_BYTES >> tce::PAGE_LOG2;
    // Effective and guest real addresses are equal.
    let base = SHARED.0.as_ptr().expose_provenance() as u64;
    for page in 0..pages {
        let address = page << tce::PAGE_LOG2;
        let entry = (base + address) | tce::READ | tce::WRITE;
        expect(Hypercall::PutTce, [tce::WINDOW, address, entry, 0], status::H_SUCCESS);
    }
    expect(Hypercall::SendCrq, [UNIT, 0xC001 << 48, 0, 0], status::H_CLOSED);
    expect(Hypercall::RegCrq, [UNIT, 0, QUEUE_BYTES, 0], status::H_SUCCESS);
    expect(Hypercall::RegCrq, [UNIT, 0, QUEUE_BYTES, 0], status::H_RESOURCE);
    expect(Hypercall::SendCrq, [UNIT, 0xC001 << 48, 0, 0], status::H_SUCCESS);
    assert_eq!(take(), [0xC002 << 48, 0], "the adapter is there");
    let mut unit = [0; 64];
    unit[0] = srp::LOGIN_REQUEST;
    let [head, ..] = ask::<7>(0, &unit);
    assert_eq!(head[0], srp::LOGIN_RESPONSE, "login");
}

/// Makes a call that has to answer `status`.
#[track_caller]
pub(crate) fn expect(call: Hypercall, arguments: [u64; 4], status: i64) {
    assert_eq!(rt::hypercall(call as u64, arguments), status, "{}", call.name());
}

/// Whether the adapter interrupts.
pub(crate) fn signal(on: bool) {
    expect(Hypercall::VioSignal, [UNIT, u64::from(on), 0, 0], status::H_SUCCESS);
}

/// Looks at an entry of the queue, before it is certain that no answer comes there.
const PATIENCE: u32 = 10_000_000;

/// Takes the next entry of the queue. Each vCPU takes one when it has sent one: as many answers are there, or are just
/// being written by another vCPU's call.
///
/// # Panics
/// There is none.
pub(crate) fn take() -> [u64; 2] {
    let place = (NEXT.fetch_add(1, SeqCst) * ENTRY_BYTES) as u64 % QUEUE_BYTES;
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

/// Sends a vCPU's information unit: what was answered.
pub(crate) fn ask<const WORDS: usize>(vcpu: u64, unit: &[u8]) -> [[u8; 8]; WORDS] {
    const { assert!(8 * WORDS <= UNIT_BYTES_MAX) };
    let place = UNITS + vcpu * UNIT_BYTES_MAX as u64;
    store(place, unit);
    fence(SeqCst);
    let head = entry::FORMAT.set(entry::VALID.set(0, entry::MESSAGE), entry::SRP);
    let head = entry::LENGTH.set(head, unit.len() as u64);
    expect(Hypercall::SendCrq, [UNIT, head, place, 0], status::H_SUCCESS);
    let [head, _] = take();
    assert_eq!(entry::STATUS.get(head), entry::DONE, "the answer was written");
    load(place)
}

/// Sends a command of `vcpu` to the disk `target`.
pub(crate) fn command(
    vcpu: u64,
    target: u64,
    cdb: &[u8],
    direction: Direction,
    pieces: Pieces<'_>,
) -> Answer {
    let mut unit = [0; UNIT_BYTES_MAX];
    unit[0] = srp::COMMAND;
    // A tag of the payload's own, in its own byte order.
    unit[8..16].copy_from_slice(&(0x7A61_0000_0000_0000 | vcpu).to_ne_bytes());
    unit[20..28].copy_from_slice(&((0x8000 | target << 8) << 48).to_be_bytes());
    unit[srp::command::CDB..srp::command::CDB + cdb.len()].copy_from_slice(cdb);
    let format = match pieces.len() {
        0 => srp::NO_DATA,
        1 => srp::DIRECT,
        _ => srp::INDIRECT,
    };
    // As many as Linux has in the unit itself; all are in the table.
    let in_unit = pieces.len().min(10);
    let (shift, count) = match direction {
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
    match pieces {
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
    let answer: [[u8; 8]; 7] = ask(vcpu, &unit);
    let byte = |at: usize| answer[at / 8][at % 8];
    let word = |at: usize| u32::from_be_bytes(core::array::from_fn(|index| byte(at + index)));
    assert_eq!(byte(0), srp::RESPONSE);
    assert_eq!(answer[1], unit[8..16], "the tag comes back");
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
