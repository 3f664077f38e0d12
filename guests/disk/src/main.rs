//! disk: talks to its virtual SCSI adapters as a driver does, moves random runs of blocks with all of its vCPUs,
//! and checks every byte that it reads. vCPUs take adapters in turn; of each adapter the payload uses the first disk.
//!
//! | argument | what it does |
//! |---|---|
//! | `rounds=N` | each vCPU sends so many commands that move blocks; 200 without it |
//! | `seed=N` | which ones |
//! | `blocks=N` | they move so many blocks each, and not a random number of them |
//! | `interrupts=on` | it lets each adapter interrupt the first vCPU, and counts that |
//! | `bad=on` | it sends what is wrong too, and checks that it is refused |
//! | `pattern=N` | at first each disk holds the pattern with this number, and zeros without it |
//! | `measure=BYTES` | instead of all that: each vCPU makes `rounds` requests of so many bytes, in one piece each, in region 1 |
//!
//! and with `measure`
//!
//! | argument | what it does |
//! |---|---|
//! | `write=on` | they write |
//! | `order=sequential` | one behind the other, and not at random places |
//! | `depth=N` | each vCPU has up to so many under way, 1 to 32: it sends as long as it has fewer, and then takes an answer; 1 without it |
//! | `work=N` | divisions before each request, each of which waits for the one before, on average; none without it |
//!
//! Each command has a buffer of its own. When all is measured, the first vCPU looks whether what was read last into
//! each, and what each vCPU wrote last, is right.
//!
//! A disk that is read-only is read only.

#![cfg_attr(target_os = "none", no_std, no_main)]

#[cfg(target_os = "none")]
mod adapter;
#[cfg(target_os = "none")]
mod measure;
#[cfg(target_os = "none")]
mod wrong;

#[cfg(target_os = "none")]
mod payload {
    use core::sync::atomic::Ordering::SeqCst;
    use core::sync::atomic::{AtomicBool, AtomicU64};

    use arch::interrupt::Vector;
    use arch::papr::{Hypercall, rtas};
    use arch::scsi::operation;
    use rt::random::Numbers;

    use crate::adapter::{
        ADAPTERS_MAX, BLOCK_BYTES, BUFFER_BYTES, Command, DEPTH_MAX, Direction, PIECES_MAX,
        VCPUS_MAX, adapter_of, adapters, buffer, command, is_source, load, moves, open, shared,
        signal, source,
    };
    use crate::measure::{self, Requests};
    use crate::wrong;

    rt::main!(disk);

    /// Blocks for which there is a note of what was written to them last: of all disks.
    const BLOCKS_MAX: u64 = 1 << 16;
    /// The first disk of each adapter.
    pub(crate) const TARGET: u64 = 0;

    static INTERRUPTS: AtomicU64 = AtomicU64::new(0);
    static VCPUS: AtomicU64 = AtomicU64::new(0);
    static ROUNDS: AtomicU64 = AtomicU64::new(0);
    static SEED: AtomicU64 = AtomicU64::new(0);
    static PATTERN: AtomicU64 = AtomicU64::new(0);
    /// How many blocks a command moves, or 0.
    static AT_A_TIME: AtomicU64 = AtomicU64::new(0);
    /// By adapter.
    static DISKS: [Disk; ADAPTERS_MAX] = [const {
        Disk {
            blocks: AtomicU64::new(0),
            notes: AtomicU64::new(0),
            is_writable: AtomicBool::new(false),
        }
    }; _];
    /// Blocks that were read and written, and words that were wrong.
    static READ: AtomicU64 = AtomicU64::new(0);
    static WRITTEN: AtomicU64 = AtomicU64::new(0);
    static WRONG: AtomicU64 = AtomicU64::new(0);
    /// What was written to each block last: the number of the command, or 0.
    static LAST: [AtomicU64; BLOCKS_MAX as usize] = [const { AtomicU64::new(0) }; _];

    /// A disk.
    struct Disk {
        blocks: AtomicU64,
        /// Where [`LAST`] has its first block.
        notes: AtomicU64,
        is_writable: AtomicBool,
    }

    /// An interrupt of an adapter: nothing but to count it, as every vCPU looks for its own answers.
    fn interrupted(_: &mut rt::Frame) {
        let (_, [xirr, ..]) = rt::hypercall_outputs(Hypercall::Xirr as u64, [0; 4]);
        INTERRUPTS.fetch_add(u64::from(is_source(xirr as u32 & 0xFF_FFFF)), SeqCst);
        rt::hypercall(Hypercall::Eoi as u64, [xirr, 0, 0, 0]);
    }

    fn disk(partition: rt::Partition) {
        let vcpus = partition.vcpus();
        assert!(u64::from(vcpus) <= VCPUS_MAX, "no more than {VCPUS_MAX} vCPUs");
        let depth = amount(partition, "depth", 1);
        assert!((1..=DEPTH_MAX).contains(&depth), "depth={depth}: 1 to {DEPTH_MAX} are allowed");
        open(partition, depth);
        let mut all = 0;
        for (adapter, disk) in DISKS[..adapters()].iter().enumerate() {
            let (blocks, is_writable) = look(adapter);
            disk.blocks.store(blocks, SeqCst);
            disk.notes.store(all, SeqCst);
            disk.is_writable.store(is_writable, SeqCst);
            all += blocks;
        }
        assert!(all <= BLOCKS_MAX, "no disks of more than {BLOCKS_MAX} blocks in all");
        let on = |name| partition.argument(name) == Some("on");
        if on("interrupts") {
            rt::on_interrupt(Vector::External, interrupted);
            rt::hypercall(Hypercall::Cppr as u64, [0xFF, 0, 0, 0]);
            for adapter in 0..adapters() {
                let source = source(adapter);
                assert_eq!(rt::rtas_call(rtas::SET_XIVE, &[source, 0, 5]), [rtas::SUCCESS]);
                assert_eq!(rt::rtas_call(rtas::GET_XIVE, &[source]), [rtas::SUCCESS, 0, 5]);
                signal(adapter, true);
            }
            rt::allow_interrupts(true);
        }
        if on("bad") {
            for (adapter, disk) in DISKS[..adapters()].iter().enumerate() {
                let (blocks, is_writable) = (&disk.blocks, &disk.is_writable);
                wrong::send(adapter, TARGET, blocks.load(SeqCst), is_writable.load(SeqCst));
            }
            wrong::send_across(TARGET);
        }
        for (place, value) in [
            (&VCPUS, u64::from(vcpus)),
            (&ROUNDS, partition.number("rounds", 200)),
            (&SEED, partition.number("seed", 1)),
            (&PATTERN, partition.number("pattern", 0)),
            (&AT_A_TIME, partition.number("blocks", 0)),
        ] {
            place.store(value, SeqCst);
        }
        if partition.argument("measure").is_some() {
            let bytes = amount(partition, "measure", 0);
            assert!(
                bytes.is_multiple_of(BLOCK_BYTES) && (1..=BUFFER_BYTES).contains(&bytes),
                "measure={bytes}: whole blocks of {BLOCK_BYTES} bytes, up to {BUFFER_BYTES} bytes"
            );
            measure::all(
                partition,
                Requests {
                    bytes,
                    depth,
                    direction: if on("write") { Direction::Out } else { Direction::In },
                    is_sequential: partition.argument("order") == Some("sequential"),
                    rounds: ROUNDS.load(SeqCst),
                    seed: SEED.load(SeqCst),
                    work: amount(partition, "work", 0),
                },
            );
            return;
        }
        for only in ["depth", "work", "order", "write"] {
            assert_eq!(partition.argument(only), None, "{only} goes with measure");
        }
        for number in 1..vcpus {
            assert_eq!(rt::start_vcpu(number, work), 0, "start-cpu");
        }
        work(0);
        for number in 1..vcpus {
            while !rt::is_stopped(number) {
                rt::hypercall(Hypercall::Confer as u64, [u64::MAX, 0, 0, 0]);
            }
        }
        // Whatever was written last is there.
        for (adapter, disk) in DISKS[..adapters()].iter().enumerate() {
            let (blocks, most) = (disk.blocks.load(SeqCst), BUFFER_BYTES / BLOCK_BYTES);
            for first in (0..blocks).step_by(most as usize) {
                let runs = Runs { vcpu: 0, adapter };
                runs.read(first, most.min(blocks - first), &mut Numbers::new(0));
            }
        }
        let kib = |blocks: &AtomicU64| blocks.load(SeqCst) * BLOCK_BYTES / 1024;
        rt::println!(
            "disk: {vcpus} vCPUs, {} KiB read, {} KiB written, {} words wrong",
            kib(&READ),
            kib(&WRITTEN),
            WRONG.load(SeqCst)
        );
        if on("interrupts") {
            let some = if INTERRUPTS.load(SeqCst) > 0 { "it interrupted" } else { "NO interrupt" };
            rt::println!("disk: {some}");
        }
    }

    /// What the disk of an adapter says of itself: how many blocks it has, and whether it may be written to.
    fn look(adapter: usize) -> (u64, bool) {
        let ask = |cdb: &[u8], bytes| {
            let pieces = [(buffer(0), bytes)];
            let direction = Direction::In;
            let asked = Command { adapter, target: TARGET, cdb, direction, pieces: &pieces };
            let answer = command(0, asked);
            assert_eq!(answer.sense, None, "{cdb:x?}");
        };
        let (cdb, direction) = (&[0; 6], Direction::In);
        let ready = Command { adapter, target: TARGET, cdb, direction, pieces: &[] };
        assert_eq!(command(0, ready).sense, None, "TEST UNIT READY");
        ask(&[operation::INQUIRY, 0, 0, 0, 36, 0], 36);
        let [head, vendor, ..]: [[u8; 8]; 4] = load(buffer(0));
        assert_eq!((head[0], &vendor), (0, b"POWERVSR"), "a disk");
        ask(&[operation::READ_CAPACITY_10, 0, 0, 0, 0, 0, 0, 0, 0, 0], 8);
        let [capacity] = load(buffer(0)).map(u64::from_be_bytes);
        assert_eq!(capacity & 0xFFFF_FFFF, BLOCK_BYTES);
        ask(&[operation::MODE_SENSE_6, 0, 0x3F, 0, 64, 0], 64);
        let [[_, _, flags, ..]] = load(buffer(0));
        ((capacity >> 32) + 1, flags & 0x80 == 0)
    }

    /// The number that an argument says, or the usual one.
    fn amount(partition: rt::Partition, name: &str, usual: u64) -> u64 {
        let text = partition.argument(name);
        text.map_or(usual, |text| {
            text.parse().unwrap_or_else(|_| panic!("{name}={text}: a number is wanted"))
        })
    }

    /// A vCPU's part of the disk behind its adapter: the first block, and the first of the next part.
    pub(crate) fn part(vcpu: u64, vcpus: u64) -> (u64, u64) {
        let (adapter, adapters) = (adapter_of(vcpu), adapters() as u64);
        let (place, all) = (vcpu / adapters, (vcpus - adapter as u64).div_ceil(adapters));
        let blocks = DISKS[adapter].blocks.load(SeqCst);
        (place * blocks / all, (place + 1) * blocks / all)
    }

    /// What a vCPU does: it has a part of the disk, and moves runs of blocks there.
    fn work(number: u32) {
        let vcpu = u64::from(number);
        let runs = Runs { vcpu, adapter: adapter_of(vcpu) };
        let (begin, end) = part(vcpu, VCPUS.load(SeqCst));
        let is_writable = DISKS[runs.adapter].is_writable.load(SeqCst);
        let mut random = Numbers::new(SEED.load(SeqCst) + vcpu);
        for round in 1..=ROUNDS.load(SeqCst) {
            let most = (end - begin).min(BUFFER_BYTES / BLOCK_BYTES);
            let count = match AT_A_TIME.load(SeqCst) {
                0 => 1 + random.below(most),
                fixed => fixed.min(most),
            };
            let first = begin + random.below(end - begin - count + 1);
            if is_writable && random.below(2) == 0 {
                runs.write(first, count, round, &mut random);
            } else {
                runs.read(first, count, &mut random);
            }
        }
    }

    /// The word at this place of the disk, if the command `number` has written it.
    pub(crate) fn word(place: u64, number: u64) -> u64 {
        match (number, PATTERN.load(SeqCst)) {
            (0, 0) => 0,
            (0, pattern) => Numbers::new(place ^ pattern << 20).next(),
            (number, _) => Numbers::new(place).next() ^ number,
        }
    }

    /// Runs of blocks that a vCPU moves, of the disk behind an adapter.
    #[derive(Clone, Copy)]
    struct Runs {
        vcpu: u64,
        adapter: usize,
    }

    impl Runs {
        /// The note of what was written last to a block.
        fn last(self, block: u64) -> &'static AtomicU64 {
            &LAST[(DISKS[self.adapter].notes.load(SeqCst) + block) as usize]
        }

        fn write(self, first: u64, count: u64, number: u64, random: &mut Numbers) {
            let first_word = first * BLOCK_BYTES / 8;
            for index in 0..count * BLOCK_BYTES / 8 {
                let value = word(first_word + index, number);
                shared(buffer(self.vcpu) + 8 * index).store(value, SeqCst);
            }
            self.send(Direction::Out, first, count, random);
            for block in first..first + count {
                self.last(block).store(number, SeqCst);
            }
            WRITTEN.fetch_add(count, SeqCst);
        }

        fn read(self, first: u64, count: u64, random: &mut Numbers) {
            let words = count * BLOCK_BYTES / 8;
            for index in 0..words {
                shared(buffer(self.vcpu) + 8 * index).store(u64::MAX, SeqCst);
            }
            self.send(Direction::In, first, count, random);
            let mut wrong = 0;
            for index in 0..words {
                let place = first * BLOCK_BYTES / 8 + index;
                let block = place * 8 / BLOCK_BYTES;
                let expected = word(place, self.last(block).load(SeqCst));
                let found = shared(buffer(self.vcpu) + 8 * index).load(SeqCst);
                wrong += u64::from(found != expected);
            }
            WRONG.fetch_add(wrong, SeqCst);
            READ.fetch_add(count, SeqCst);
        }

        /// Moves blocks by way of a random number of pieces, which may have any length.
        fn send(self, direction: Direction, first: u64, count: u64, random: &mut Numbers) {
            let mut pieces = [(0, 0); PIECES_MAX];
            let (mut used, mut at, all) = (0, 0, count * BLOCK_BYTES);
            let most = 1 + random.below(PIECES_MAX as u64) as usize;
            while at < all {
                let bytes = match used + 1 == most {
                    true => all - at,
                    false => 1 + random.below((all - at).min(2 * all / most as u64 + 1)),
                };
                pieces[used] = (buffer(self.vcpu) + at, bytes);
                at += bytes;
                used += 1;
            }
            let cdb = moves(direction, first, count);
            let (adapter, pieces) = (self.adapter, &pieces[..used]);
            let asked = Command { adapter, target: TARGET, cdb: &cdb, direction, pieces };
            let answer = command(self.vcpu, asked);
            assert_eq!((answer.sense, answer.residual), (None, (0, 0, 0)), "{cdb:x?}");
        }
    }
}

#[cfg(not(target_os = "none"))]
fn main() -> std::process::ExitCode {
    eprintln!("disk: a bare-metal payload; build it with `cargo xtask images`");
    std::process::ExitCode::from(2)
}
