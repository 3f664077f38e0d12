//! compute: a partition that works by itself; each part between two marks of its own.
//!
//! Arguments: `rounds=N` does each part N times (default 1); `part=NAME` does that part only;
//! `translation=off` stays in guest real mode.

#![cfg_attr(target_os = "none", no_std, no_main)]

#[cfg(target_os = "none")]
mod payload {
    use arch::marker::{Mark, Region};
    use guest_compute::Part;

    rt::main!(compute_parts);

    fn compute_parts(partition: rt::Partition) {
        match partition.argument("translation") {
            None | Some("on") => rt::enable_translation(partition.memory_bytes()),
            Some("off") => (),
            Some(other) => panic!("translation={other}: on and off are known"),
        }
        let rounds = partition.argument("rounds").map_or(1, |rounds| {
            rounds.parse().unwrap_or_else(|_| panic!("rounds={rounds}: not a number"))
        });
        let chosen = partition.argument("part");
        if let Some(name) = chosen {
            assert!(Part::ALL.iter().any(|part| part.name() == name), "part={name}: no such part");
        }
        rt::floating_point::allow();
        let memory = partition.take_free_memory();
        for part in Part::ALL {
            if chosen.is_none_or(|name| name == part.name()) {
                let checksum = marked(part, memory, rounds);
                rt::println!("compute: {}, rounds {rounds}, checksum {checksum:016x}", part.name());
            }
        }
    }

    /// A mark is an instruction, so each region has its own.
    macro_rules! region {
        ($number:literal, $work:expr) => {{
            const REGION: Region = Region::new($number).expect("a region number");
            rt::mark!(Mark::Begin(REGION));
            let result = $work;
            rt::mark!(Mark::End(REGION));
            result
        }};
    }

    fn marked(part: Part, memory: &mut [u64], rounds: u32) -> u64 {
        match part {
            Part::Sort => region!(1, part.run(memory, rounds)),
            Part::Hash => region!(2, part.run(memory, rounds)),
            Part::Chase => region!(3, part.run(memory, rounds)),
            Part::Matrix => region!(4, part.run(memory, rounds)),
            Part::Factor => region!(5, part.run(memory, rounds)),
        }
    }
}

#[cfg(not(target_os = "none"))]
fn main() -> std::process::ExitCode {
    eprintln!("compute: a bare-metal payload; build it with `cargo xtask images`");
    std::process::ExitCode::from(2)
}
