//! misbehave: does what a partition should not do. The argument `mode=NAME` says what; see [`MODES`].
//!
//! Some modes end well for the partition: what they did had no effect. In the others the hypervisor has to
//! end it.

#![cfg_attr(target_os = "none", no_std, no_main)]

#[cfg(target_os = "none")]
mod areas;
#[cfg(target_os = "none")]
mod calls;
#[cfg(target_os = "none")]
mod clocks;
#[cfg(target_os = "none")]
mod crowd;
#[cfg(target_os = "none")]
mod disks;
#[cfg(target_os = "none")]
mod hashed;
#[cfg(target_os = "none")]
mod life;

#[cfg(target_os = "none")]
rt::misbehavior!();

#[cfg(target_os = "none")]
mod payload {
    use core::sync::atomic::{AtomicU32, Ordering::Relaxed};

    use arch::address::RealAddress;
    use arch::interrupt::Vector;
    use arch::papr::hashed::AVPN;
    use arch::papr::{Hypercall, mode, process_table};
    use arch::radix::{DIRECTORY_ENTRIES_LOG2, Entry, ROOT_ENTRIES_LOG2, Root, SPACE_LOG2};
    use arch::registers::msr;

    use rt::random::Numbers;

    use crate::misbehavior::{
        execute, execute_word, jump, load, msr, return_with_msr, set_msr, skip, store,
    };
    use crate::{areas, calls, clocks, crowd, hashed, life};

    rt::main!(misbehave);

    /// What it can do, and with what. "Ends" is that of the partition.
    const MODES: [(&str, fn(rt::Partition)); 42] = [
        ("wild-load", |partition| _ = load(partition.memory_bytes() << 1)), // ends
        ("wild-store", |partition| store(partition.memory_bytes(), 1)),     // ends
        ("wild-fetch", |_| jump(0x00FF_FFFF_0000)),                         // ends
        ("instructions", instructions),
        ("stop", stop),
        ("registers", registers),
        ("count", count), // with `performance_monitor = true`
        ("states", states),
        ("wild-states", wild_states), // ends, nobody says how
        ("hypercalls", hypercalls),
        ("loop", |_| forever()), // ends by its time limit
        ("sleep", sleep),        // ends
        ("storm", storm),        // ends by its time limit
        ("requests", requests),  // ends by its time limit
        ("tables", tables),      // ends
        ("tree", tree),
        ("restart", |_| life::restart()), // ends by its time limit
        ("restart-storm", life::restart_storm), // ends by its time limit
        ("touch-storm", life::touch_storm), // ends by its time limit
        ("areas", areas::areas),          // ends by its time limit
        ("clocks", clocks::clocks),       // ends by its time limit
        ("numbers", calls::numbers),
        ("set-mode", calls::set_mode), // ends by its time limit
        ("outlive", life::outlive),
        ("outlive-restart", life::outlive_restart), // ends by its time limit
        // These end by their time limit.
        ("doorbells", doorbells),
        ("own-doorbell", own_doorbell), // it ends well
        ("confer", calls::confer),
        ("confer-any", calls::confer_any),
        ("prod", calls::prod),
        ("wake", calls::wake),
        ("nap", calls::nap),
        ("call", calls::one_call),
        ("late-loop", calls::late_loop),
        ("loop-all", crowd::loop_all),
        ("confer-all", crowd::confer_all),
        ("prod-all", crowd::prod_all),
        // These are for a partition with a hashed page table.
        ("hash-enter", hashed::enter),
        ("hash-two-sizes", hashed::two_sizes), // ends by a machine check
        ("hash-full", hashed::full),           // ends
        ("hash-race", hashed::race),           // ends by its time limit
        ("hash-resize", hashed::resize),
    ];

    fn misbehave(partition: rt::Partition) {
        let wanted = partition.argument("mode").unwrap_or("");
        let Some((name, action)) = MODES.iter().find(|(name, _)| *name == wanted) else {
            panic!("mode={wanted}: not one of the modes");
        };
        if u64::from(partition.vcpus()) > rt::VCPUS_MAX {
            rt::println!("misbehave: it starts {} vCPUs at most; give it no more", rt::VCPUS_MAX);
            return;
        }
        rt::println!("misbehave: {name}");
        action(partition);
        rt::println!("misbehave: {name}: still here");
    }

    fn forever() {
        loop {
            core::hint::spin_loop();
        }
    }

    static REFUSED: AtomicU32 = AtomicU32::new(0);

    fn refused(frame: &mut rt::Frame) {
        REFUSED.fetch_add(1, Relaxed);
        skip(frame);
    }

    /// Rings doorbells between a core's threads, its own and others', and takes none: they wait for whoever runs next.
    /// It leaves something in the registers of coprocessors, too, where there are any.
    fn doorbells(_: rt::Partition) {
        const MSGSNDP: u32 = 31 << 26 | 3 << 11 | 142 << 1;
        const DOORBELL: u64 = 5 << 27;
        rt::on_interrupt(Vector::Program, refused);
        for thread in (0..8).cycle() {
            execute::<MSGSNDP>(DOORBELL | thread);
            // ACOP, TACR, TCSCR, CSIGR.
            execute::<{ mtspr(31) }>(!thread);
            execute::<{ mtspr(888) }>(!thread);
            execute::<{ mtspr(889) }>(!thread);
            execute::<{ mtspr(890) }>(!thread);
        }
    }

    static RUNG: AtomicU32 = AtomicU32::new(0);

    /// Rings its own privileged doorbell, which it does not take, and gives the processor up: the doorbell is to wait
    /// for it where it goes on. In the end it takes it. With `translated=yes` its addresses are translated.
    fn own_doorbell(partition: rt::Partition) {
        const MSGSNDP: u32 = 31 << 26 | 3 << 11 | 142 << 1;
        const MSGCLRP: u32 = 31 << 26 | 3 << 11 | 174 << 1;
        const ROUNDS: u32 = 300;
        if partition.argument("translated") == Some("yes") {
            rt::enable_translation(partition.memory_bytes());
        }
        let tir = || execute_word(mfspr(446), 0);
        let dpdes = || execute_word(mfspr(176), 0);
        let waits = || {
            loop {
                // It may move to another thread between the two.
                let (before, bits, behind) = (tir(), dpdes(), tir());
                if before == behind {
                    return bits >> before & 1 == 1;
                }
            }
        };
        let mut kept = 0;
        for _ in 0..ROUNDS {
            if !waits() {
                execute::<MSGSNDP>(5 << 27 | tir());
            }
            rt::hypercall(Hypercall::Confer as u64, [u64::MAX, 0, 0, 0]);
            kept += u32::from(waits());
        }
        rt::on_interrupt(Vector::DirectedPrivilegedDoorbell, |_| {
            RUNG.fetch_add(1, Relaxed);
        });
        rt::set_decrementer(rt::NEVER);
        rt::allow_interrupts(true);
        // It comes once; what comes behind it would have had time to.
        for _ in 0..ROUNDS {
            rt::hypercall(Hypercall::Confer as u64, [u64::MAX, 0, 0, 0]);
        }
        rt::allow_interrupts(false);
        let (taken, left) = (RUNG.load(Relaxed), waits());
        execute::<MSGSNDP>(5 << 27 | tir());
        let rung = waits();
        execute::<MSGCLRP>(5 << 27);
        rt::println!(
            "misbehave: {kept} of {ROUNDS} doorbells kept, {taken} taken; left {left}, rung {rung}, cleared {}",
            !waits()
        );
    }

    const fn mtspr(number: u32) -> u32 {
        31 << 26 | 3 << 21 | (number & 31) << 16 | (number >> 5) << 11 | 467 << 1
    }

    const fn mfspr(number: u32) -> u32 {
        31 << 26 | 3 << 21 | (number & 31) << 16 | (number >> 5) << 11 | 339 << 1
    }

    /// Instructions that are illegal, or that only the hypervisor may execute, and MSR bits that are not the
    /// guest's to set.
    fn instructions(_: rt::Partition) {
        rt::on_interrupt(Vector::Program, refused);
        let mut tried = 0;
        macro_rules! try_each {
            ($($word:expr),* $(,)?) => { $( execute::<{ $word }>(u64::MAX); tried += 1; )* };
        }
        try_each!(0, 0x0400_0000, 0x4C00_0224, 0x7C00_01CC); // two illegal ones, hrfid, msgclr-like
        // LPCR, LPIDR, HSRR0, HSRR1, HDEC, HSPRG0, HSPRG1, HFSCR, PTCR, AMOR, HID0
        try_each!(
            mtspr(318),
            mtspr(319),
            mtspr(314),
            mtspr(315),
            mtspr(310),
            mtspr(304),
            mtspr(305),
            mtspr(190),
            mtspr(464),
            mtspr(349),
            mtspr(1008),
            mfspr(318),
            mfspr(319),
            mfspr(314),
            mfspr(304),
            mfspr(464),
            mfspr(310),
        );
        let before = msr();
        for bits in [msr::HV, msr::HV | msr::EE | msr::FP] {
            set_msr(before | bits);
            return_with_msr(before | bits);
            set_msr(before & !msr::ME);
            return_with_msr(before & !msr::ME);
        }
        set_msr(before);
        // ME is the hypervisor's to decide; QEMU lets a guest clear it.
        let (refused, kept) = (REFUSED.load(Relaxed), (msr() ^ before) & !msr::ME == 0);
        rt::println!("misbehave: {refused} of {tried} instructions refused, MSR kept: {kept}");
    }

    /// `stop`, with whatever the partition can ask of it.
    fn stop(_: rt::Partition) {
        const PRIVILEGED_PSSCR: u32 = 823;
        const STOP: u32 = 0x4C00_02E4;
        rt::on_interrupt(Vector::Program, refused);
        let asked = [0, 1, 0x3FF, u64::MAX];
        for psscr in asked {
            execute::<{ mtspr(PRIVILEGED_PSSCR) }>(psscr);
            execute::<STOP>(0);
        }
        let (refused, asked) = (REFUSED.load(Relaxed), asked.len());
        rt::println!("misbehave: {refused} of {asked} stops refused");
    }

    /// Reads every special-purpose register number, and writes random values to all but those whose writes
    /// say nothing about the hypervisor: LR, which the way back from the write needs, and the time base, which
    /// QEMU lets a guest change.
    fn registers(_: rt::Partition) {
        const LR: u32 = 8;
        rt::on_interrupt(Vector::Program, refused);
        rt::on_interrupt(Vector::FacilityUnavailable, refused);
        let mut numbers = Numbers::new(1);
        for number in 0..1024 {
            let before = REFUSED.load(Relaxed);
            execute_word(mfspr(number), 0);
            let is_refused = REFUSED.load(Relaxed) != before;
            // QEMU enforces no HFSCR: these would go on counting, or interrupt others.
            let is_facility = matches!(number, 176 | 768..=806);
            if !matches!(number, LR | 284..=286) && (is_refused || !is_facility) {
                execute_word(mtspr(number), numbers.next());
            }
        }
        // BESCR under its names, with nothing that lets an event branch: GE, also where the upper half is the lower.
        for number in [800, 801, 802, 803, 806] {
            execute_word(mtspr(number), numbers.next() & !(1 << 63 | 1 << 31));
        }
        rt::println!(
            "misbehave: {}",
            if REFUSED.load(Relaxed) > 0 { "refused" } else { "never refused" }
        );
    }

    /// Lets the performance monitor do anything at all, with counters about to become negative, and leaves the
    /// partition meanwhile.
    fn count(_: rt::Partition) {
        const PMC: core::ops::RangeInclusive<u32> = 787..=792;
        const MMCR0: u32 = 795;
        // SIER, MMCR2, MMCRA, SIAR, SDAR, MMCR1.
        const OTHERS: [u32; 6] = [784, 785, 786, 796, 797, 798];
        const FREEZE: u64 = 1 << 31;
        const ROUNDS: u32 = 300;
        rt::on_interrupt(Vector::PerformanceMonitor, |_| {
            REFUSED.fetch_add(1, Relaxed);
            execute_word(mtspr(MMCR0), FREEZE);
        });
        let mut numbers = Numbers::new(1);
        let plain = msr();
        for round in 0..ROUNDS {
            PMC.for_each(|number| {
                _ = execute_word(mtspr(number), 0x7FFF_FFFF - numbers.next() % 500)
            });
            OTHERS.iter().for_each(|&number| _ = execute_word(mtspr(number), numbers.next()));
            // Without event-based branches, which have no handler.
            execute_word(mtspr(MMCR0), numbers.next() & !FREEZE & !(1 << 20));
            if round % 2 == 0 {
                set_msr(plain | msr::EE);
            }
            // To anybody: it leaves the processor, as long as somebody waits.
            rt::hypercall(Hypercall::Confer as u64, [u64::MAX, 0, 0, 0]);
            set_msr(plain);
        }
        execute_word(mtspr(MMCR0), FREEZE);
        rt::println!("misbehave: {} alerts", REFUSED.load(Relaxed));
    }

    /// The MSR's facilities, switched on one by one, and an instruction of each.
    fn states(_: rt::Partition) {
        const VOR: u32 = 0x1000_0484;
        const XXLOR: u32 = 0xF000_0490;
        const TBEGIN: u32 = 0x7C00_051D;
        for vector in [
            Vector::Program,
            Vector::FloatingPointUnavailable,
            Vector::VectorUnavailable,
            Vector::VsxUnavailable,
            Vector::FacilityUnavailable,
        ] {
            rt::on_interrupt(vector, refused);
        }
        let before = msr();
        for bits in
            [0, msr::VEC, msr::VSX, msr::VEC | msr::VSX | msr::FP, msr::TM, msr::PMM, msr::FE0]
        {
            for set in [set_msr, return_with_msr] {
                set(before | bits);
                execute::<VOR>(0);
                execute::<XXLOR>(0);
                execute::<TBEGIN>(0);
                set(before);
            }
        }
        rt::println!("misbehave: MSR kept: {}", msr() == before);
    }

    /// One random MSR after the other. What is executed in the other endianness, or with an MSR that goes
    /// wrong later, may do anything at all.
    fn wild_states(partition: rt::Partition) {
        for vector in [
            Vector::DataStorage,
            Vector::DataSegment,
            Vector::InstructionStorage,
            Vector::InstructionSegment,
            Vector::Program,
            Vector::FloatingPointUnavailable,
            Vector::Trace,
        ] {
            rt::on_interrupt(vector, |frame| frame.msr = msr::SF | msr::ME | msr::LE);
        }
        // Our machine has no transaction states, and no source says what both kinds of trace would do.
        let left_alone = msr::TS.mask() | msr::TE.set(0, 1);
        let mut numbers = Numbers::new(partition.number("seed", 1));
        for _ in 0..1000 {
            return_with_msr(numbers.next() & !left_alone);
        }
    }

    /// All hypercalls, and numbers that are none, with random arguments; those that point at memory point at
    /// what the payload does not need. The argument `calls=N` says how many, `seed=N` which.
    fn hypercalls(partition: rt::Partition) {
        rt::on_interrupt(Vector::External, |_| {
            let (_, [xirr, ..]) = rt::hypercall_outputs(Hypercall::Xirr as u64, [0; 4]);
            rt::hypercall(Hypercall::Ipi as u64, [0, 0xFF, 0, 0]);
            rt::hypercall(Hypercall::Eoi as u64, [xirr, 0, 0, 0]);
        });
        rt::on_interrupt(Vector::Decrementer, |_| rt::set_decrementer(rt::NEVER));
        let free = partition.free_memory();
        let mut numbers = Numbers::new(partition.number("seed", 2));
        let mut answered = 0;
        for _ in 0..partition.number("calls", 10_000) {
            let index = numbers.next() as usize % (Hypercall::ALL.len() + 1);
            let call = Hypercall::ALL.get(index).copied();
            let arguments = core::array::from_fn(|_| match numbers.next() % 6 {
                0 => numbers.next(),
                1 => numbers.next() % 16,
                2 => 1 << (numbers.next() % 64),
                3 => partition.memory_bytes() - numbers.next() % 64,
                // Never an address below the free memory, where the payload is.
                _ => free.start + numbers.next() % (free.end - free.start - 0x1_0000),
            });
            let is_harmful = match call {
                // The payload's handlers are little-endian, and its terminal is for its own words.
                Some(Hypercall::SetMode) => arguments[1] == mode::ENDIANNESS,
                Some(Hypercall::PutTermChar) => arguments[0] == 0,
                // It would wait for itself.
                Some(Hypercall::Confer) => arguments[0] == 0,
                Some(Hypercall::PageInit | Hypercall::RegisterVpa) => {
                    arguments[1].min(arguments[2]) < free.start
                }
                Some(Hypercall::Rtas) => arguments[0] < free.start,
                // It would withhold the payload's own pages from it.
                Some(Hypercall::Protect) => arguments[0] & AVPN == 0,
                _ => false,
            };
            if is_harmful {
                continue;
            }
            if call == Some(Hypercall::Cede) {
                rt::set_decrementer(1000);
            }
            let number = call.map_or_else(|| unassigned(&mut numbers), |call| call as u64);
            rt::hypercall(number, arguments);
            rt::allow_interrupts(false);
            answered += 1;
        }
        rt::println!("misbehave: {answered} random calls answered");
    }

    /// A number of any size that no hypercall has.
    fn unassigned(numbers: &mut Numbers) -> u64 {
        loop {
            let shift = numbers.below(64);
            let number = numbers.next() >> shift;
            if Hypercall::from_number(number).is_none() {
                return number;
            }
        }
    }

    /// Waits for what will not come.
    fn sleep(_: rt::Partition) {
        rt::set_decrementer(1 << 54);
        rt::hypercall(Hypercall::Cede as u64, [0; 4]);
    }

    /// An interrupt that is never taken back, so that it comes again at once.
    fn storm(_: rt::Partition) {
        rt::on_interrupt(Vector::External, |_| {
            let (_, [xirr, ..]) = rt::hypercall_outputs(Hypercall::Xirr as u64, [0; 4]);
            rt::hypercall(Hypercall::Eoi as u64, [xirr, 0, 0, 0]);
        });
        rt::hypercall(Hypercall::Cppr as u64, [0xFF, 0, 0, 0]);
        rt::hypercall(Hypercall::Ipi as u64, [0, 1, 0, 0]);
        rt::allow_interrupts(true);
        forever();
    }

    /// Two vCPUs that interrupt each other without end.
    fn requests(_: rt::Partition) {
        rt::on_interrupt(Vector::External, |_| {
            let (_, [xirr, ..]) = rt::hypercall_outputs(Hypercall::Xirr as u64, [0; 4]);
            rt::hypercall(Hypercall::Eoi as u64, [xirr, 0, 0, 0]);
        });
        assert_eq!(rt::start_vcpu(1, |_| request(0)), 0, "start-cpu");
        request(1);
    }

    fn request(other: u64) {
        rt::hypercall(Hypercall::Cppr as u64, [0xFF, 0, 0, 0]);
        rt::allow_interrupts(true);
        loop {
            rt::hypercall(Hypercall::Ipi as u64, [other, 1, 0, 0]);
        }
    }

    /// A tree whose every table lies outside of the memory, each somewhere else.
    fn tables(partition: rt::Partition) {
        const TABLE: u64 = 0x1_0000;
        const FAR: u64 = 1 << 40;
        let process = partition.free_memory().start.next_multiple_of(TABLE);
        let base = RealAddress(process + TABLE);
        let root = Root { space_log2: SPACE_LOG2, base, entries_log2: ROOT_ENTRIES_LOG2 };
        store(process, root.to_doubleword().to_be());
        let mut numbers = Numbers::new(3);
        for address in (base.0..base.0 + TABLE).step_by(8) {
            let base = RealAddress(numbers.next() % FAR & !0xFFF | FAR);
            let entry = Entry::Directory { base, entries_log2: DIRECTORY_ENTRIES_LOG2 };
            store(address, entry.to_doubleword().to_be());
        }
        let flags = process_table::REGISTER | process_table::RADIX | process_table::GTSE;
        let arguments = [flags, process, 0, 0];
        assert_eq!(rt::hypercall(Hypercall::RegisterProcTbl as u64, arguments), 0);
        set_msr(msr() | msr::IR | msr::DR);
    }

    /// Its own device tree is its own.
    fn tree(partition: rt::Partition) {
        let end = partition.memory_bytes();
        for address in (partition.free_memory().end..end).step_by(8) {
            store(address, u64::MAX);
        }
    }
}

#[cfg(not(target_os = "none"))]
fn main() -> std::process::ExitCode {
    eprintln!("misbehave: a bare-metal payload; build it with `cargo xtask images`");
    std::process::ExitCode::from(2)
}
