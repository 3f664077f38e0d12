//! memory-walk: writes a pattern to every doubleword of its untouched memory, in an order that jumps about,
//! and checks that each was zero before and keeps the pattern.
//!
//! The argument `translation=on` walks through the payload's own page tables, the default through none; `words=N`
//! walks the first N doublewords of each 64 KiB only.

#![cfg_attr(target_os = "none", no_std, no_main)]

#[cfg(target_os = "none")]
mod payload {
    rt::main!(memory_walk);

    /// Bytes that are walked from one end to the other.
    const RUN: u64 = 0x1_0000;

    fn memory_walk(partition: rt::Partition) {
        let translation = partition.argument("translation") == Some("on");
        if translation {
            rt::enable_translation(partition.memory_bytes());
        }
        let free = partition.free_memory();
        let runs = (free.end - free.start) / RUN;
        // A number that has no divisor in common with the number of runs: every run is met once.
        let stride = (runs / 3..).find(|stride| coprime(*stride, runs)).unwrap_or(1);
        let walked = (partition.number("words", RUN / 8) * 8).min(RUN);
        let (mut words, mut zero, mut kept) = (0u64, 0u64, 0u64);
        for index in 0..runs {
            let start = free.start + index * stride % runs * RUN;
            for address in (start..start + walked).step_by(8) {
                let before = partition.probe(address);
                words += 1;
                zero += u64::from(before == Some(0));
                kept += u64::from(before.is_some());
            }
        }
        // Nothing that was written later changed what was written before.
        let intact = (free.start..free.start + runs * RUN)
            .step_by(RUN as usize)
            .flat_map(|start| (start..start + walked).step_by(8))
            .filter(|address| partition.probe(*address) == Some(!address))
            .count() as u64;
        let all = |count| if count == words { "all" } else { "NOT all" };
        let how = if translation { "on" } else { "off" };
        rt::println!(
            "memory-walk: {} KiB, translation {how}: {} zero at first, {} kept, {} intact at the end",
            words * 8 / 1024,
            all(zero),
            all(kept),
            all(intact)
        );
    }

    const fn coprime(mut a: u64, mut b: u64) -> bool {
        while b != 0 {
            (a, b) = (b, a % b);
        }
        a == 1
    }
}

#[cfg(not(target_os = "none"))]
fn main() -> std::process::ExitCode {
    eprintln!("memory-walk: a bare-metal payload; build it with `cargo xtask images`");
    std::process::ExitCode::from(2)
}
