//! registers: fills all registers with values that no other partition has, and checks them after it was
//! preempted, after hypercalls that return at once, and after ones by which it leaves the processor.
//!
//! The argument `seed=N` makes the values. What a register may hold afterwards is the policy of the
//! hypervisor's record of a vCPU.

#![cfg_attr(target_os = "none", no_std, no_main)]

#[cfg(target_os = "none")]
mod payload {
    use arch::papr::Hypercall;
    use arch::papr::status::H_FUNCTION;
    use rt::registers::{SPECIAL, Values, call, set_special, special, spin};

    rt::main!(registers);

    /// A multiple of four that PAPR does not assign.
    const UNASSIGNED: u64 = 0xFFF8;
    /// SO, OV, CA, OV32, CA32 and the string count.
    const XER: u64 = 0xE00C_007F;
    /// CR2, CR3 and CR4, which a hypercall keeps.
    const CR_KEPT: u64 = 0x00FF_F000;

    /// Numbers that look random: a counter and a hash of it.
    struct Numbers(u64);

    impl Numbers {
        fn next(&mut self) -> u64 {
            self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
            let mixed = (self.0 ^ self.0 >> 30).wrapping_mul(0xBF58_476D_1CE4_E5B9);
            let mixed = (mixed ^ mixed >> 27).wrapping_mul(0x94D0_49BB_1331_11EB);
            mixed ^ mixed >> 31
        }

        fn values(&mut self) -> Values {
            Values {
                gpr: core::array::from_fn(|_| self.next()),
                fpr: core::array::from_fn(|_| self.next()),
                cr: self.next() & 0xFFFF_FFFF,
                lr: self.next() & !3,
                xer: self.next() & XER,
                ctr: self.next(),
                // The rounding mode: other bits would ask for exceptions or follow from each other.
                fpscr: self.next() & 3,
            }
        }
    }

    fn registers(partition: rt::Partition) {
        let number = |name, default| {
            partition.argument(name).and_then(|text| text.parse().ok()).unwrap_or(default)
        };
        let mut numbers = Numbers(number("seed", 1) << 32);
        let rounds = number("rounds", 200);
        rt::registers::allow_floating_point();
        let mut wrong = 0;
        for round in 0..rounds {
            let expected_special = set_special(core::array::from_fn(|_| numbers.next()));
            let before = numbers.values();
            let after = match round % 3 {
                // Long enough for others to run meanwhile, now and then.
                0 => check_spin(&before, spin(&before, 4000)),
                1 => check_call(&before, UNASSIGNED, H_FUNCTION),
                _ => check_cede(&before),
            };
            wrong += after;
            for ((name, expected), found) in SPECIAL.iter().zip(expected_special).zip(special()) {
                // A hypercall is an interrupt that saves in these two.
                let is_lost = round % 3 != 0 && name.starts_with("SRR");
                if expected != found && !is_lost {
                    wrong += 1;
                    rt::println!("registers: {name} {found:#x}, not {expected:#x}");
                }
            }
        }
        rt::println!("registers: {rounds} rounds, {wrong} wrong");
    }

    fn check_spin(before: &Values, after: Values) -> u32 {
        compare(&Values { ctr: 0, ..before.clone() }, &after)
    }

    /// A hypercall that gives `status` and no outputs.
    fn check_call(before: &Values, number: u64, status: i64) -> u32 {
        let mut before = before.clone();
        before.gpr[3] = number;
        let after = call(&before);
        let mut expected = before;
        expected.gpr[0] = 0;
        expected.gpr[3] = status as u64;
        expected.gpr[4..13].fill(0);
        expected.ctr = 0;
        // The other fields, and XER, are the caller's to lose.
        expected.cr &= CR_KEPT;
        expected.xer = 0;
        compare(&expected, &after)
    }

    /// H_CEDE that returns soon, since a prod waits: by way of the dispatcher, and others.
    fn check_cede(before: &Values) -> u32 {
        rt::set_decrementer(1 << 50);
        rt::hypercall(Hypercall::Prod as u64, [0; 4]);
        let wrong = check_call(before, Hypercall::Cede as u64, 0);
        rt::allow_interrupts(false);
        wrong
    }

    fn compare(expected: &Values, found: &Values) -> u32 {
        if expected == found {
            return 0;
        }
        for number in 0..32 {
            let (expected, found) = (expected.gpr[number], found.gpr[number]);
            if expected != found {
                rt::println!("registers: r{number} {found:#x}, not {expected:#x}");
            }
        }
        for number in 0..32 {
            let (expected, found) = (expected.fpr[number], found.fpr[number]);
            if expected != found {
                rt::println!("registers: f{number} {found:#x}, not {expected:#x}");
            }
        }
        let others = |v: &Values| [v.cr, v.lr, v.xer, v.ctr, v.fpscr];
        if others(expected) != others(found) {
            rt::println!("registers: {:x?}, not {:x?}", others(found), others(expected));
        }
        1
    }
}

#[cfg(not(target_os = "none"))]
fn main() -> std::process::ExitCode {
    eprintln!("registers: a bare-metal payload; build it with `cargo xtask images`");
    std::process::ExitCode::from(2)
}
