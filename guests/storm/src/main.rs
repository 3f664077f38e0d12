//! storm: makes random exits on all of its vCPUs, each time with all registers filled with random values that
//! name the partition, and checks afterwards what may have changed.
//!
//! Arguments: `tag=N` is the partition's name in the values, `rounds=N` the exits that each vCPU makes by
//! itself, `seed=N`, below 65536, says which, `translation=on` makes them with translation on. What it makes:
//! hypercalls that are none, known hypercalls, second-stage faults of loads and fetches, illegal instructions,
//! uses of a facility that is withheld, waits for the decrementer with interrupts of other vCPUs on the way,
//! and long enough loops for others to run meanwhile.
//!
//! With `states=all` it does all that in random states too: hypercalls and loops with any MSR that it can make,
//! in problem state among them, with vectors and event-based branches used at random, and in `monitor=on` the
//! performance monitor. QEMU moves none of these facilities with a vCPU (`docs/caveats/qemu.md`).

#![cfg_attr(target_os = "none", no_std, no_main)]

#[cfg(target_os = "none")]
mod payload {
    use core::sync::atomic::{AtomicBool, AtomicU32, AtomicU64, Ordering::SeqCst};

    use arch::interrupt::Vector;
    use arch::papr::status::{H_FUNCTION, H_PARAMETER, H_PARTIAL, H_PRIVILEGE, H_SUCCESS};
    use arch::papr::{Hypercall, page};
    use arch::registers::msr;
    use arch::tag::{tagged, tagged_first};
    use rt::detour::{self, Way};
    use rt::random::Numbers;
    use rt::registers::{
        self, BRANCHES, MONITOR, SPECIAL, Values, branches, monitor, set_branches, set_monitor,
        set_special, special,
    };

    rt::main!(storm);

    const NAME: &str = "storm";
    /// The longest loop, in steps.
    const SPIN_MAX: u64 = 4000;
    /// The longest wait, in ticks of the time base.
    const WAIT_MAX: u64 = 4000;
    /// No request of another vCPU; also the priority at which every request is taken.
    const LEAST_FAVORED: u64 = 0xFF;

    static VCPUS: AtomicU32 = AtomicU32::new(0);
    static ROUNDS: AtomicU32 = AtomicU32::new(0);
    static TAG: AtomicU32 = AtomicU32::new(0);
    static SEED: AtomicU64 = AtomicU64::new(0);
    static IS_TRANSLATED: AtomicBool = AtomicBool::new(false);
    static HAS_STATES: AtomicBool = AtomicBool::new(false);
    static HAS_MONITOR: AtomicBool = AtomicBool::new(false);
    /// MSR of every vCPU between two actions.
    static MSR: AtomicU64 = AtomicU64::new(0);
    /// Memory that nothing uses: where it begins, and how much it is.
    static FREE: [AtomicU64; 2] = [const { AtomicU64::new(0) }; 2];
    static WRONG: AtomicU32 = AtomicU32::new(0);

    fn storm(partition: rt::Partition) {
        let vcpus = partition.vcpus();
        VCPUS.store(vcpus, SeqCst);
        ROUNDS.store(partition.number("rounds", 500), SeqCst);
        TAG.store(partition.number("tag", 1), SeqCst);
        SEED.store(partition.number("seed", 0), SeqCst);
        let free = partition.free_memory();
        FREE[0].store(free.start, SeqCst);
        FREE[1].store(free.end - free.start, SeqCst);
        // What it accepts here is taken back by who was interrupted.
        rt::on_interrupt(Vector::External, |_| _ = rt::hypercall(Hypercall::Xirr as u64, [0; 4]));
        rt::on_interrupt(Vector::Decrementer, |_| rt::set_decrementer(rt::NEVER));
        rt::on_interrupt(Vector::Program, refused);
        rt::on_interrupt(Vector::SystemCall, |frame| detour::end(frame, MSR.load(SeqCst)));
        rt::on_interrupt(Vector::Trace, |_| ());
        HAS_STATES.store(partition.argument("states") == Some("all"), SeqCst);
        HAS_MONITOR.store(partition.argument("monitor") == Some("on"), SeqCst);
        if partition.argument("translation") == Some("on") {
            rt::enable_translation(partition.memory_bytes());
            rt::share_with_users(partition.memory_bytes());
            IS_TRANSLATED.store(true, SeqCst);
        }
        for number in 1..vcpus {
            assert_eq!(rt::start_vcpu(number, start), 0, "start-cpu");
        }
        work(0);
        for number in 1..vcpus {
            while !rt::is_stopped(number) {
                rt::hypercall(Hypercall::Confer as u64, [u64::MAX, 0, 0, 0]);
            }
        }
        let (rounds, wrong) = (ROUNDS.load(SeqCst), WRONG.load(SeqCst));
        rt::println!("storm: {vcpus} vCPUs, {rounds} rounds each, {wrong} wrong");
    }

    /// An instruction was refused: its own, or what it found in its free memory.
    fn refused(frame: &mut rt::Frame) {
        let [start, bytes] = [0, 1].map(|index: usize| FREE[index].load(SeqCst));
        frame.pc = if frame.pc.wrapping_sub(start) < bytes { frame.lr } else { frame.pc + 4 };
    }

    fn start(number: u32) {
        if IS_TRANSLATED.load(SeqCst) {
            rt::join_translation();
        }
        work(number);
    }

    /// What every vCPU does.
    fn work(number: u32) {
        rt::floating_point::allow();
        if HAS_STATES.load(SeqCst) {
            rt::vectors::allow();
        }
        MSR.store(rt::misbehavior::msr(), SeqCst);
        let tag = TAG.load(SeqCst);
        let mut vcpu = Vcpu {
            number: u64::from(number),
            tag: tag as u8,
            numbers: Numbers::new(SEED.load(SeqCst) << 16 | u64::from(tag << 8 | number)),
            has_vectors: false,
        };
        let stack = InterruptStack([0; 4096]);
        let top = (&raw const stack.0).expose_provenance() as u64 + 4096 - 64;
        for _ in 0..ROUNDS.load(SeqCst) {
            vcpu.round(top);
        }
    }

    /// For an interrupt that finds everything else filled with random values.
    #[repr(align(16))]
    struct InterruptStack([u8; 4096]);

    /// What it has put into facilities.
    #[derive(Default)]
    struct Uses {
        vectors: Option<u64>,
        branches: Option<[u64; BRANCHES.len()]>,
        monitor: Option<[u64; MONITOR.len()]>,
    }

    impl Uses {
        /// Whether something else is there, which it says.
        fn are_lost(&self) -> bool {
            let lost = [
                ("vectors", self.vectors.is_some_and(rt::vectors::have_changed)),
                ("branches", self.branches.is_some_and(|values| branches() != values)),
                ("monitor", self.monitor.is_some_and(|values| monitor() != values)),
            ];
            for (name, _) in lost.iter().filter(|(_, is_lost)| *is_lost) {
                rt::println!("{NAME}: {name} have changed");
            }
            lost.iter().any(|(_, is_lost)| *is_lost)
        }
    }

    struct Vcpu {
        number: u64,
        tag: u8,
        numbers: Numbers,
        /// In this round.
        has_vectors: bool,
    }

    impl Vcpu {
        fn value(&mut self) -> u64 {
            tagged(self.tag, self.numbers.next())
        }

        fn vcpu(&mut self) -> u64 {
            self.numbers.below(u64::from(VCPUS.load(SeqCst)))
        }

        fn round(&mut self, stack: u64) {
            let mut values = SPECIAL.map(|_| self.value());
            if IS_TRANSLATED.load(SeqCst) {
                // Its tables serve this process alone.
                let pidr = SPECIAL.iter().zip(&mut values).find(|(name, _)| **name == "PIDR");
                *pidr.expect("PIDR is special").1 = 0;
            }
            let before_special = set_special(values);
            registers::leave_traces(self.value(), &FREE[0]);
            let uses =
                if HAS_STATES.load(SeqCst) { self.use_facilities() } else { Uses::default() };
            let mut before = Values::random(|| self.value());
            before.gpr[1] = stack;
            let action = self.numbers.below(16);
            let (after, expected) = match action {
                0..4 => self.unknown_call(before),
                4..8 => self.known_call(before),
                8..10 => self.wait(before),
                10..12 => self.spin(before),
                12 => (registers::execute_illegal(&before), before),
                13 => self.withheld(before),
                14 => self.fetch(before),
                _ => self.load(before),
            };
            let mut is_wrong = after.differ(&expected, NAME);
            is_wrong |= uses.are_lost();
            let is_interrupt = HAS_STATES.load(SeqCst) || !matches!(action, 10..12 | 15);
            for ((name, expected), found) in SPECIAL.iter().zip(before_special).zip(special()) {
                // Every interrupt of its own, and a hypercall, saves in these two.
                let is_lost = is_interrupt && name.starts_with("SRR");
                if expected != found && !is_lost {
                    is_wrong = true;
                    rt::println!("{NAME}: {name} {found:#x}, not {expected:#x}");
                }
            }
            if is_wrong {
                WRONG.fetch_add(1, SeqCst);
                rt::println!("{NAME}: in action {action}");
            }
        }

        /// A number that is no hypercall's.
        fn unknown_call(&mut self, mut before: Values) -> (Values, Values) {
            before.gpr[3] = loop {
                let shift = self.numbers.below(64);
                let number = self.numbers.next() >> shift;
                if Hypercall::from_number(number).is_none() {
                    break number;
                }
            };
            let (after, status) = self.call(&before);
            (after, before.after_call(status.unwrap_or(H_FUNCTION) as u64))
        }

        /// Makes the hypercall that r3 asks for, in any state; the status that it has to have in that state,
        /// whatever it asks for.
        fn call(&mut self, before: &Values) -> (Values, Option<i64>) {
            let Some(msr) = self.state() else { return (registers::call(before), None) };
            let status = (msr & msr::PR != 0).then_some(H_PRIVILEGE);
            (detour::take(before, self.has_vectors, Way::Call, msr), status)
        }

        /// Spins, in any state.
        fn spin(&mut self, mut before: Values) -> (Values, Values) {
            let turns = 1 + self.numbers.below(SPIN_MAX);
            let after = match self.state() {
                None => registers::spin(&before, turns),
                Some(msr) => {
                    // Each turn is an interrupt if it is traced.
                    before.ctr = if msr & msr::TE.mask() == 0 { turns } else { 1 + turns % 16 };
                    detour::take(&before, self.has_vectors, Way::Spin, msr)
                }
            };
            before.ctr = 0;
            (after, before)
        }

        /// An MSR that the partition can make, in which it can find its way back; seldom none.
        fn state(&mut self) -> Option<u64> {
            if !HAS_STATES.load(SeqCst) || self.numbers.below(8) == 0 {
                return None;
            }
            let mut state = msr::ME | self.numbers.next() & detour::CHOICE;
            if IS_TRANSLATED.load(SeqCst) {
                state |= self.numbers.next() & (msr::IR | msr::DR | msr::PR);
            }
            // Problem state has these.
            let implied = if state & msr::PR == 0 { 0 } else { msr::EE | msr::IR | msr::DR };
            Some(state | implied)
        }

        /// Puts values of its own into facilities that it may never have used, or not for long.
        fn use_facilities(&mut self) -> Uses {
            let which = self.numbers.next();
            let mut uses = Uses::default();
            registers::leave_kernel_traces(self.value(), 2 + which % 3, which >> 8 & 1);
            self.has_vectors = which & 0x10 != 0;
            if self.has_vectors {
                let value = tagged_first(self.tag, self.numbers.next());
                rt::vectors::fill(value);
                uses.vectors = Some(value);
            }
            if which & 0x20 != 0 {
                uses.branches = Some(set_branches(BRANCHES.map(|_| self.value())));
            }
            if which & 0x40 != 0 && HAS_MONITOR.load(SeqCst) {
                uses.monitor = Some(set_monitor(MONITOR.map(|_| self.value())));
            }
            uses
        }

        /// A hypercall with arguments that do no harm: those that are not set here are far out of range.
        fn known_call(&mut self, mut before: Values) -> (Values, Values) {
            let all = Hypercall::ALL;
            let call = all[self.numbers.below(all.len() as u64) as usize];
            before.gpr[3] = call as u64;
            match call {
                Hypercall::Cede => return self.wait(before),
                Hypercall::Prod | Hypercall::Ipoll => before.gpr[4] = self.vcpu(),
                Hypercall::Cppr => before.gpr[4] &= 0xFF,
                Hypercall::Ipi => {
                    before.gpr[4] = self.vcpu();
                    before.gpr[5] &= 0xFF;
                }
                Hypercall::Confer => {
                    let to = self.vcpu();
                    // To itself would be to wait for a prod.
                    before.gpr[4] = if to == self.number { u64::MAX } else { to };
                }
                Hypercall::PageInit => {
                    before.gpr[4] = page::ZERO;
                    before.gpr[5] = self.free_address() & !0xFFF;
                }
                _ => {}
            }
            let (after, status) = self.call(&before);
            let status = status.map_or(after.gpr[3], |status| status as u64);
            let mut expected = before.after_call(status);
            let outputs = match call {
                Hypercall::Xirr
                | Hypercall::Ipoll
                | Hypercall::Random
                | Hypercall::GetCpuCharacteristics
                | Hypercall::GetTermChar
                | Hypercall::GetTce => 4..7,
                // A wrong request is answered in its place, and what is behind it stays.
                Hypercall::BulkRemove if status == H_PARAMETER as u64 => 4..12,
                // So is each of its requests, unless one is none.
                Hypercall::BlockRemove if [H_SUCCESS, H_PARTIAL].contains(&(status as i64)) => {
                    4..12
                }
                _ => 0..0,
            };
            expected.gpr[outputs.clone()].copy_from_slice(&after.gpr[outputs]);
            (after, expected)
        }

        /// H_CEDE until the decrementer expires, another vCPU sends something, or at once.
        fn wait(&mut self, mut before: Values) -> (Values, Values) {
            let to = self.vcpu();
            rt::hypercall(Hypercall::Ipi as u64, [to, self.numbers.below(LEAST_FAVORED), 0, 0]);
            rt::hypercall(Hypercall::Cppr as u64, [LEAST_FAVORED, 0, 0, 0]);
            rt::set_decrementer(self.numbers.below(WAIT_MAX));
            before.gpr[3] = Hypercall::Cede as u64;
            let after = registers::call(&before);
            rt::allow_interrupts(false);
            rt::hypercall(Hypercall::Ipi as u64, [self.number, LEAST_FAVORED, 0, 0]);
            (after, before.after_call(0))
        }

        /// A load from anywhere in its free memory, which nothing ever stores into but zeroes.
        fn load(&mut self, mut before: Values) -> (Values, Values) {
            before.gpr[4] = self.free_address();
            let after = registers::load(&before);
            before.gpr[4] = 0;
            (after, before)
        }

        /// QEMU withholds no facility and gives the register.
        fn withheld(&mut self, mut before: Values) -> (Values, Values) {
            let after = registers::read_withheld(&before);
            before.gpr[4] = after.gpr[4];
            (after, before)
        }

        /// A fetch from its free memory, where no word is an instruction.
        fn fetch(&mut self, mut before: Values) -> (Values, Values) {
            before.ctr = self.free_address() & !3;
            let after = registers::fetch(&before);
            before.lr = after.lr;
            (after, before)
        }

        fn free_address(&mut self) -> u64 {
            let [start, bytes] = [0, 1].map(|index: usize| FREE[index].load(SeqCst));
            start + (self.numbers.below(bytes - 0x1_0000) & !7)
        }
    }
}

#[cfg(not(target_os = "none"))]
fn main() -> std::process::ExitCode {
    eprintln!("storm: a bare-metal payload; build it with `cargo xtask images`");
    std::process::ExitCode::from(2)
}
