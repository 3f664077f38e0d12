//! registers: fills all registers with values that no other partition has, and checks them after it was
//! preempted, after hypercalls that return at once, and after ones by which it leaves the processor.
//!
//! The argument `seed=N` makes the values; with `vectors=1`, VSR32 to VSR63 are among the registers, for which
//! HFSCR has to be enforced where several vCPUs run. What a register may hold afterwards is the policy of the
//! hypervisor's record of a vCPU.

#![cfg_attr(target_os = "none", no_std, no_main)]

#[cfg(target_os = "none")]
mod payload {
    use arch::papr::Hypercall;
    use arch::papr::status::H_FUNCTION;
    use rt::random::Numbers;
    use rt::registers::{SPECIAL, Values, call, set_special, special, spin};

    rt::main!(registers);

    const NAME: &str = "registers";
    /// A multiple of four that PAPR does not assign.
    const UNASSIGNED: u64 = 0xFFF8;

    fn registers(partition: rt::Partition) {
        let mut numbers = Numbers::new(partition.number("seed", 1));
        let rounds = partition.number("rounds", 200);
        rt::floating_point::allow();
        let has_vectors = partition.number("vectors", 0u32) == 1;
        if has_vectors {
            rt::vectors::allow();
        }
        let mut wrong = 0;
        for round in 0..rounds {
            let expected_special = set_special(core::array::from_fn(|_| numbers.next()));
            let before = Values::random(|| numbers.next());
            let vectors = numbers.next();
            if has_vectors {
                rt::vectors::fill(vectors);
            }
            let after = match round % 3 {
                // Long enough for others to run meanwhile, now and then.
                0 => check_spin(&before, spin(&before, 4000)),
                1 => check_call(&before, UNASSIGNED, H_FUNCTION),
                _ => check_cede(&before),
            };
            wrong += u32::from(after);
            if has_vectors && rt::vectors::have_changed(vectors) {
                wrong += 1;
                rt::println!("registers: vectors have changed");
            }
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

    fn check_spin(before: &Values, after: Values) -> bool {
        after.differ(&Values { ctr: 0, ..before.clone() }, NAME)
    }

    /// A hypercall that gives `status` and no outputs.
    fn check_call(before: &Values, number: u64, status: i64) -> bool {
        let mut before = before.clone();
        before.gpr[3] = number;
        call(&before).differ(&before.after_call(status as u64), NAME)
    }

    /// H_CEDE that returns soon, since a prod waits: by way of the dispatcher, and others.
    fn check_cede(before: &Values) -> bool {
        rt::set_decrementer(rt::NEVER);
        rt::hypercall(Hypercall::Prod as u64, [0; 4]);
        let wrong = check_call(before, Hypercall::Cede as u64, 0);
        rt::allow_interrupts(false);
        wrong
    }
}

#[cfg(not(target_os = "none"))]
fn main() -> std::process::ExitCode {
    eprintln!("registers: a bare-metal payload; build it with `cargo xtask images`");
    std::process::ExitCode::from(2)
}
