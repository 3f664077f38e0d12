//! hash-calls: a call of the hashed page table, each time for another entry, 10,000 times between two marks.
//!
//! The argument `call` says which: `enter` puts entries in, `remove` takes them out, `bulk-remove` takes four out in
//! one call, `block-remove` eight of a block of pages, `protect` changes what one allows, `read` reads it. The kernel
//! is translated; no entry is ever used.
//! Two calls one behind the other are for one group, which is a cache line, and groups come in their order; with
//! `order=scattered` each call but `bulk-remove` is for a group of its own, in no order.
//! `clear-hpt` takes all out: `calls` says how many entries there are before, and the kernel is not translated.
//! With two vCPUs the second one stops itself before, so that it has run where nobody says it has nothing cached. With
//! `others=call` all others make the same calls meanwhile, each in groups of its own, without end: those that enter or
//! remove do both, by turns. The first one's entries have to fit into its share of the groups then, a 32nd.
//! `warm-up=N` calls come before the first mark, 500 without it.

#![cfg_attr(target_os = "none", no_std, no_main)]

#[cfg(target_os = "none")]
mod payload {
    use core::sync::atomic::{AtomicU32, Ordering::SeqCst};

    use arch::hash::{EntryForm, first, hash, second};
    use arch::marker::{Mark, Region};
    use arch::papr::status::{H_CONTINUE, H_NOT_FOUND, H_SUCCESS};
    use arch::papr::{Hypercall, hashed};

    rt::main!(hash_calls);

    const CALLS: u64 = 10_000;
    const WARM_UP: u64 = 500;
    const REGION: Region = Region::new(1).expect("a region number");
    /// A virtual segment of 1 TiB that nobody uses.
    const VSID: u64 = 0x55_5555;
    const ADDRESS_LOG2: u32 = 40 - first::AVA_OMITS_LOG2;
    /// Groups of the table, and an odd number whose multiples come to each of them once, in no order.
    const GROUPS: u64 = 0x10_0000 / 128;
    const SCATTER: u64 = 0x9E37_79B1;
    /// Entries of a vCPU's share of the groups.
    const SHARE: u64 = 2 * GROUPS / 32;
    /// Calls of every other vCPU before the first one begins.
    const WARM_UP_OF_OTHERS: u64 = 20;
    /// Where an entry for a call is: the last slot but one of a group, which the payload's own pages leave free.
    const PLACE: u64 = 6;

    fn entry(index: u64) -> u64 {
        let address = (VSID << ADDRESS_LOG2 | index) << first::AVA_SHIFT;
        EntryForm::V2.segment_size.set(address | first::V, 1)
    }

    fn slot(index: u64) -> u64 {
        index / 2 * 8 + PLACE + index % 2
    }

    fn make(call: Hypercall, arguments: [u64; 4]) -> i64 {
        rt::hypercall(call as u64, arguments)
    }

    fn enter(index: u64) -> i64 {
        make(Hypercall::Enter, [hashed::EXACT, slot(index), entry(index), second::M])
    }

    fn remove(index: u64) -> i64 {
        make(Hypercall::Remove, [hashed::AVPN, slot(index), entry(index) & !0x7F, 0])
    }

    fn protect(index: u64) -> i64 {
        make(Hypercall::Protect, [hashed::AVPN | 3, slot(index), entry(index) & !0x7F, 0])
    }

    fn read(index: u64) -> i64 {
        make(Hypercall::Read, [0, slot(index), 0, 0])
    }

    fn bulk_remove(index: u64) -> i64 {
        let pairs = core::array::from_fn(|word| {
            let index = 4 * index + word as u64 / 2;
            match word % 2 {
                0 => hashed::CONDITION
                    .set(hashed::KIND.set(slot(index), hashed::REQUEST), hashed::BY_AVPN),
                _ => entry(index) & !0x7F,
            }
        });
        rt::hypercall_of_eight(Hypercall::BulkRemove as u64, pairs)
    }

    /// Which call the others make, by its place here.
    static CALL: AtomicU32 = AtomicU32::new(0);
    const CALLS_OF_OTHERS: [&str; 4] = ["enter", "remove", "protect", "read"];
    /// All vCPUs run.
    static STARTED: AtomicU32 = AtomicU32::new(0);
    /// vCPUs that call beside the first one.
    static CALLING: AtomicU32 = AtomicU32::new(0);
    /// The first one has done.
    static ENDED: AtomicU32 = AtomicU32::new(0);

    /// What every other vCPU does: it calls until the first one has done.
    fn others(vcpu: u32) {
        rt::join_translation();
        let share = u64::from(vcpu) * SHARE..u64::from(vcpu + 1) * SHARE;
        let call: fn(u64) -> i64 = match CALLS_OF_OTHERS[CALL.load(SeqCst) as usize] {
            "protect" => protect,
            "read" => read,
            _ => |index| enter(index) | remove(index),
        };
        // Who starts the others needs locks that these calls may take.
        while STARTED.load(SeqCst) == 0 {
            core::hint::spin_loop();
        }
        if CALLS_OF_OTHERS[CALL.load(SeqCst) as usize] == "protect" {
            share.clone().for_each(|index| assert_eq!(enter(index), H_SUCCESS, "H_ENTER"));
        }
        for (count, index) in (0..).zip(share.cycle()) {
            if count == WARM_UP_OF_OTHERS {
                CALLING.fetch_add(1, SeqCst);
            }
            if ENDED.load(SeqCst) != 0 {
                return;
            }
            assert_eq!(call(index), H_SUCCESS, "call of vCPU {vcpu}");
        }
    }

    /// Starts all others with the call `name`, and waits until all make it.
    fn start_others(name: &str, vcpus: u32) {
        let place = CALLS_OF_OTHERS.iter().position(|call| *call == name);
        let place = place.unwrap_or_else(|| panic!("others=call: not for call={name}"));
        CALL.store(place as u32, SeqCst);
        for number in 1..vcpus {
            assert_eq!(rt::start_vcpu(number, others), 0, "start-cpu");
        }
        STARTED.store(1, SeqCst);
        while CALLING.load(SeqCst) + 1 < vcpus {
            core::hint::spin_loop();
        }
    }

    /// The slot in which an entry of `block-remove` is, and its first doubleword: a page of 4 KiB under its own hash,
    /// each of a block of eight in a group of its own.
    fn of_block(index: u64) -> (u64, u64) {
        let (vsid, offset) = (VSID + index / GROUPS, index % GROUPS << 12);
        let address = vsid << ADDRESS_LOG2 | offset >> first::AVA_OMITS_LOG2;
        let word = EntryForm::V2.segment_size.set(address << first::AVA_SHIFT | first::V, 1);
        let group = hash(vsid, 40, 12, offset) % GROUPS;
        (group * 8 + PLACE + index / GROUPS, word)
    }

    fn enter_of_block(index: u64) -> i64 {
        let (slot, word) = of_block(index);
        make(Hypercall::Enter, [hashed::EXACT, slot, word, second::M])
    }

    fn block_remove(index: u64) -> i64 {
        let pages = hashed::BLOCK as u64;
        let words = core::array::from_fn(|word| match word as u64 {
            0 => of_block(pages * index).1 & !0x7F,
            word => {
                let slot = of_block(pages * index + word - 1).0;
                hashed::KIND.set(slot, hashed::REQUEST) | hashed::BLOCK_BY_AVPN
            }
        });
        rt::hypercall_of_nine_outputs(Hypercall::BlockRemove as u64, words).0
    }

    /// Puts so many entries in, and takes all out by H_CLEAR_HPT, with relocation off: what is left is the virtual real
    /// mode area, which is the hypervisor's.
    fn clear_hpt(entries: u64) {
        for index in 0..entries {
            assert_eq!(enter(index), H_SUCCESS, "H_ENTER of {index}");
        }
        let mut calls = 0;
        rt::mark!(Mark::Begin(REGION));
        let status = loop {
            calls += 1;
            let status = make(Hypercall::ClearHpt, [0; 4]);
            if status != H_CONTINUE {
                break status;
            }
        };
        rt::mark!(Mark::End(REGION));
        assert_eq!(status, H_SUCCESS, "H_CLEAR_HPT");
        let left = (0..entries).filter(|index| remove(*index) != H_NOT_FOUND).count();
        assert_eq!(enter(0), H_SUCCESS, "H_ENTER behind H_CLEAR_HPT");
        rt::println!("hash-calls: {entries} entries, {left} are left behind {calls} of clear-hpt");
    }

    fn hash_calls(partition: rt::Partition) {
        if partition.argument("call") == Some("clear-hpt") {
            return clear_hpt(partition.number("calls", CALLS));
        }
        let others_call = match partition.argument("others") {
            None => false,
            Some("call") => true,
            Some(other) => panic!("others={other}: only call is known"),
        };
        if partition.vcpus() > 1 && !others_call {
            assert_eq!(rt::start_vcpu(1, |_| ()), 0, "start-cpu");
            while !rt::is_stopped(1) {}
        }
        rt::enable_translation(partition.memory_bytes());
        let name = partition.argument("call").unwrap_or("enter");
        let (call, entries): (fn(u64) -> i64, u64) = match name {
            "enter" => (enter, 0),
            "remove" => (remove, 1),
            "bulk-remove" => (bulk_remove, 4),
            "block-remove" => (block_remove, hashed::BLOCK as u64),
            "protect" => (protect, 1),
            "read" => (read, 1),
            other => {
                panic!(
                    "call={other}: enter, remove, bulk-remove, block-remove, protect, read and clear-hpt are known"
                )
            }
        };
        let calls = partition.number("calls", CALLS);
        let warm_up = partition.number("warm-up", WARM_UP);
        assert!(
            !others_call || warm_up + calls <= SHARE && partition.memory_bytes() == 128 << 20,
            "others=call: for 128 MiB, and for warm-up and calls={SHARE} together at most"
        );
        let is_scattered = match partition.argument("order") {
            None => false,
            Some("scattered") => true,
            Some(other) => panic!("order={other}: only scattered is known"),
        };
        assert!(
            !is_scattered || entries < 2 && warm_up + calls <= GROUPS,
            "order=scattered: not for call=bulk-remove, and for calls={} at most",
            GROUPS - warm_up
        );
        let place = |index: u64| {
            if is_scattered { 2 * (index.wrapping_mul(SCATTER) % GROUPS) } else { index }
        };
        let enter = if name == "block-remove" { enter_of_block } else { enter };
        assert!(
            name != "block-remove" || entries * (warm_up + calls) <= 2 * GROUPS,
            "call=block-remove: for calls={} at most",
            2 * GROUPS / entries.max(1) - warm_up
        );
        let mut answers = 0;
        if others_call {
            start_others(name, partition.vcpus());
        }
        for index in 0..entries * (warm_up + calls) {
            answers |= enter(place(index)) ^ H_SUCCESS;
        }
        for index in 0..warm_up {
            answers |= call(place(index)) ^ H_SUCCESS;
        }
        rt::mark!(Mark::Begin(REGION));
        for index in warm_up..warm_up + calls {
            answers |= call(place(index)) ^ H_SUCCESS;
        }
        rt::mark!(Mark::End(REGION));
        ENDED.store(1, SeqCst);
        let not = if answers == 0 { "" } else { "not always " };
        rt::println!("hash-calls: {calls} of {name}, answer {not}H_SUCCESS");
    }
}

#[cfg(not(target_os = "none"))]
fn main() -> std::process::ExitCode {
    eprintln!("hash-calls: a bare-metal payload; build it with `cargo xtask images`");
    std::process::ExitCode::from(2)
}
