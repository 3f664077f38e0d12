//! What is measured: requests of one size, each vCPU's in its own part of the disk behind its adapter.

use core::sync::atomic::AtomicU64;
use core::sync::atomic::Ordering::{Relaxed, SeqCst};

use arch::marker::{Mark, Region};
use rt::pace::{Pace, work};
use rt::random::Numbers;

use crate::adapter::{
    Alone, BLOCK_BYTES, Command, DEPTH_MAX, Direction, Flight, VCPUS_MAX, adapter_of, buffer,
    command, moves, shared, show_more,
};
use crate::payload::{TARGET, part, word};

/// The region that is measured, and requests of each vCPU before it.
const REGION: Region = Region::new(1).expect("a region number");
const WARM_UP: u64 = 20;
/// A vCPU's buffers begin at a multiple.
const FRAME_BYTES: u64 = 0x1_0000;
const PAGE_BYTES: u64 = 0x1000;

/// What each vCPU asks for.
#[derive(Clone, Copy)]
pub(crate) struct Requests {
    /// Bytes of one.
    pub(crate) bytes: u64,
    /// Requests of a vCPU under way at a time.
    pub(crate) depth: u64,
    /// Which way they go.
    pub(crate) direction: Direction,
    /// Whether one is behind the other.
    pub(crate) is_sequential: bool,
    /// So many of each vCPU.
    pub(crate) rounds: u64,
    /// Which ones.
    pub(crate) seed: u64,
    /// Rounds of work before one.
    pub(crate) work: u64,
}

/// They, for all vCPUs to see.
static BYTES: AtomicU64 = AtomicU64::new(0);
static DEPTH: AtomicU64 = AtomicU64::new(0);
static WRITES: AtomicU64 = AtomicU64::new(0);
static IS_SEQUENTIAL: AtomicU64 = AtomicU64::new(0);
static ROUNDS: AtomicU64 = AtomicU64::new(0);
static SEED: AtomicU64 = AtomicU64::new(0);
static WORK: AtomicU64 = AtomicU64::new(0);
/// vCPUs, and where their buffers begin in the window.
static VCPUS: AtomicU64 = AtomicU64::new(0);
static BUFFERS: AtomicU64 = AtomicU64::new(0);
/// vCPUs that are ready for the region, that have made their requests in it, and that have no command any more.
static ARRIVED: AtomicU64 = AtomicU64::new(0);
static DONE: AtomicU64 = AtomicU64::new(0);
static GONE: AtomicU64 = AtomicU64::new(0);
static GOES: AtomicU64 = AtomicU64::new(0);

/// The first block of the last request from each slot of each vCPU, and the slot of each vCPU's last request.
static PLACES: [[AtomicU64; DEPTH_MAX as usize]; VCPUS_MAX as usize] =
    [const { [const { AtomicU64::new(0) }; _] }; _];
static LAST: [Alone<AtomicU64>; VCPUS_MAX as usize] = [const { Alone(AtomicU64::new(0)) }; _];

/// The buffers of all vCPUs: one for each command that may be under way.
#[derive(Clone, Copy)]
struct Buffers {
    bytes: u64,
    depth: u64,
}

impl Buffers {
    /// Bytes of a vCPU's.
    const fn of_vcpu(self) -> u64 {
        (self.depth * self.bytes.next_multiple_of(PAGE_BYTES)).next_multiple_of(FRAME_BYTES)
    }

    /// Where one is, from the beginning of all.
    const fn offset(self, vcpu: u64, slot: u64) -> u64 {
        vcpu * self.of_vcpu() + slot * self.bytes.next_multiple_of(PAGE_BYTES)
    }

    /// The first and the last word of one.
    fn ends(self, memory: &[AtomicU64], vcpu: u64, slot: u64) -> [&AtomicU64; 2] {
        let first = self.offset(vcpu, slot) / 8;
        [&memory[first as usize], &memory[(first + self.bytes / 8 - 1) as usize]]
    }
}

/// What is in a buffer that is written to the disk, at its ends.
const fn written(vcpu: u64, slot: u64) -> u64 {
    0x5772_6974_0000_0000 | vcpu << 8 | slot
}

/// Measures.
pub(crate) fn all(partition: rt::Partition, requests: Requests) {
    let (vcpus, Requests { bytes, depth, rounds, .. }) = (partition.vcpus(), requests);
    let (writes, is_sequential) = (requests.direction == Direction::Out, requests.is_sequential);
    let buffers = Buffers { bytes, depth };
    let wanted = u64::from(vcpus) * buffers.of_vcpu();
    let free = partition.share_free_memory();
    let memory = free.get(..(wanted / 8) as usize).unwrap_or_else(|| {
        panic!("{wanted} bytes of buffers do not fit into {} free bytes", 8 * free.len())
    });
    for (place, value) in [
        (&BYTES, bytes),
        (&DEPTH, depth),
        (&WRITES, writes.into()),
        (&IS_SEQUENTIAL, is_sequential.into()),
        (&ROUNDS, rounds),
        (&SEED, requests.seed),
        (&WORK, requests.work),
        (&VCPUS, vcpus.into()),
        (&BUFFERS, show_more(memory)),
    ] {
        place.store(value, SeqCst);
    }
    let slots = || (0..u64::from(vcpus)).flat_map(|vcpu| (0..depth).map(move |slot| (vcpu, slot)));
    for (vcpu, slot) in slots() {
        for end in buffers.ends(memory, vcpu, slot) {
            end.store(if writes { written(vcpu, slot) } else { u64::MAX }, SeqCst);
        }
    }
    for number in 1..vcpus {
        assert_eq!(rt::start_vcpu(number, one), 0, "start-cpu");
    }
    one(0);
    while GONE.load(SeqCst) < vcpus.into() {
        core::hint::spin_loop();
    }
    if writes {
        (0..u64::from(vcpus)).for_each(|vcpu| check_written(vcpu, bytes));
    } else {
        for (vcpu, slot) in slots() {
            let first = PLACES[vcpu as usize][slot as usize].load(SeqCst) * BLOCK_BYTES / 8;
            let expected = [first, first + bytes / 8 - 1].map(|place| word(place, 0));
            let read = buffers.ends(memory, vcpu, slot).map(|end| end.load(SeqCst));
            assert_eq!(read, expected, "vCPU {vcpu}, command {slot}");
        }
    }
    let requests = u64::from(vcpus) * rounds;
    rt::println!("disk: {requests} requests of {bytes} bytes, {vcpus} vCPUs");
}

/// Reads what a vCPU wrote last.
fn check_written(vcpu: u64, bytes: u64) {
    let slot = LAST[vcpu as usize].0.load(SeqCst);
    let first = PLACES[vcpu as usize][slot as usize].load(SeqCst);
    let cdb = moves(Direction::In, first, bytes / BLOCK_BYTES);
    let pieces = &[(buffer(0), bytes)];
    let (adapter, direction) = (adapter_of(vcpu), Direction::In);
    let answer = command(0, Command { adapter, target: TARGET, cdb: &cdb, direction, pieces });
    assert_eq!(answer.sense, None, "{cdb:x?}");
    let read = [0, bytes - 8].map(|offset| shared(buffer(0) + offset).load(SeqCst));
    assert_eq!(read, [written(vcpu, slot); 2], "vCPU {vcpu}");
}

/// What a vCPU does. The first one marks the region, from when all are ready to when all have done. Each other one that
/// has done goes on until then, so that the last one is no less disturbed. It takes an answer for each command that it
/// sends: the last one would else wait for answers that lie behind those, until there are `depth` of them.
fn one(number: u32) {
    let (vcpu, vcpus) = (u64::from(number), VCPUS.load(SeqCst));
    let (bytes, depth, rounds) = (BYTES.load(SeqCst), DEPTH.load(SeqCst), ROUNDS.load(SeqCst));
    let count = bytes / BLOCK_BYTES;
    let (begin, end) = part(vcpu, vcpus);
    assert!(count <= end - begin, "a larger disk");
    let direction = if WRITES.load(SeqCst) == 0 { Direction::In } else { Direction::Out };
    let is_sequential = IS_SEQUENTIAL.load(SeqCst) != 0;
    let (buffers, window) = (Buffers { bytes, depth }, BUFFERS.load(SeqCst));
    let (mean, seed) = (WORK.load(SeqCst), SEED.load(SeqCst));
    let mut pace = Pace::new(mean, rounds, seed << 6 | vcpu);
    let mut random = Numbers::new(seed + vcpu);
    let mut flight = Flight::new(vcpu, depth);
    let mut request = |flight: &mut Flight, round: u64| {
        let places = (end - begin) / count;
        let place = if is_sequential { round % places } else { random.below(places) };
        let first = begin + place * count;
        let slot = flight.slot();
        let pieces = &[(window + buffers.offset(vcpu, slot), bytes)];
        let cdb = moves(direction, first, count);
        flight.send(
            slot,
            &Command { adapter: flight.adapter, target: TARGET, cdb: &cdb, direction, pieces },
        );
        PLACES[vcpu as usize][slot as usize].store(first, Relaxed);
        LAST[vcpu as usize].0.store(slot, Relaxed);
    };
    let warm_up = WARM_UP.max(depth);
    (0..warm_up).for_each(|round| request(&mut flight, round));
    flight.finish();
    ARRIVED.fetch_add(1, SeqCst);
    if number == 0 {
        while ARRIVED.load(SeqCst) < vcpus {
            core::hint::spin_loop();
        }
        rt::mark!(Mark::Begin(REGION));
        GOES.store(1, SeqCst);
    }
    while GOES.load(SeqCst) == 0 {
        core::hint::spin_loop();
    }
    work(pace.late());
    for round in warm_up..warm_up + rounds {
        work(pace.rounds());
        request(&mut flight, round);
    }
    work(mean - pace.late());
    flight.finish();
    DONE.fetch_add(1, SeqCst);
    if number == 0 {
        while DONE.load(SeqCst) < vcpus {
            core::hint::spin_loop();
        }
        rt::mark!(Mark::End(REGION));
    } else {
        let mut round = warm_up + rounds;
        while DONE.load(SeqCst) < vcpus {
            work(pace.rounds());
            request(&mut flight, round);
            flight.take_all();
            round += 1;
        }
        flight.finish();
    }
    GONE.fetch_add(1, SeqCst);
}
