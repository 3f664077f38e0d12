//! Calls without end: the ways to leave the processor, and to come back to it, at the expense of others.

use crate::disks::{self, UNIT};
use crate::misbehavior::store;
use arch::bits::Field;
use arch::hash;
use arch::interrupt::Vector;
use arch::papr::status::H_FUNCTION;
use arch::papr::{Hypercall, area, hashed, mode, page, process_table, rtas, tce};
use rt::random::Numbers;

/// Two vCPUs that give each other the rest of their slices.
pub(crate) fn confer(_: rt::Partition) {
    both(|number| {
        loop {
            call(Hypercall::Confer, [1 - u64::from(number), 0, 0, 0]);
        }
    });
}

/// Two vCPUs that give the rest of their slices to whoever waits.
pub(crate) fn confer_any(_: rt::Partition) {
    both(|_| {
        loop {
            call(Hypercall::Confer, [u64::MAX, 0, 0, 0]);
        }
    });
}

/// Two vCPUs that wake each other and sleep.
pub(crate) fn prod(_: rt::Partition) {
    both(|number| {
        loop {
            call(Hypercall::Prod, [1 - u64::from(number), 0, 0, 0]);
            call(Hypercall::Cede, [0; 4]);
        }
    });
}

/// One vCPU that wakes another without end, which sleeps at once.
pub(crate) fn wake(_: rt::Partition) {
    both(|number| {
        loop {
            match number {
                0 => call(Hypercall::Prod, [1, 0, 0, 0]),
                _ => call(Hypercall::Cede, [0; 4]),
            }
        }
    });
}

/// Two vCPUs that sleep for a moment, of any length up to 4 us, without end.
pub(crate) fn nap(_: rt::Partition) {
    const LONGEST_TICKS: u64 = 2048;
    both(|number| {
        let mut numbers = Numbers::new(1 + u64::from(number));
        loop {
            rt::set_decrementer(1 + numbers.below(LONGEST_TICKS));
            call(Hypercall::Cede, [0; 4]);
        }
    });
}

/// Sleeps for a while, and then never gives the processor away.
pub(crate) fn late_loop(_: rt::Partition) {
    const LATE_TICKS: u64 = 512_000;
    rt::on_interrupt(Vector::Decrementer, |_| rt::set_decrementer(rt::NEVER));
    rt::set_decrementer(LATE_TICKS);
    call(Hypercall::Cede, [0; 4]);
    loop {
        core::hint::spin_loop();
    }
}

/// Runs `work` on vCPUs 0 and 1, whose decrementers are switched off by their interrupt.
fn both(work: fn(u32)) {
    rt::on_interrupt(Vector::Decrementer, |_| rt::set_decrementer(rt::NEVER));
    assert_eq!(rt::start_vcpu(1, work), 0, "start-cpu");
    work(0);
}

fn call(call: Hypercall, arguments: [u64; 4]) {
    rt::hypercall(call as u64, arguments);
}

/// Every number of PAPR's calls and of the private ones, and the neighbours of each, with arguments of all kinds: one
/// that has no name here is answered with H_FUNCTION, and changes no register that it may not.
pub(crate) fn numbers(_: rt::Partition) {
    const ODD: [u64; 6] = [0, 1, 0x7FFF_FFFF_FFFF_FFFF, 1 << 63, u64::MAX, 0x0123_4567_89AB_CDEF];
    let mut numbers = Numbers::new(4);
    let mut wrong = 0;
    for number in (0..0x800).chain(0xEF00..0xF200).chain(0x1_0000..0x1_0010) {
        if Hypercall::from_number(number).is_some() {
            continue;
        }
        let arguments = core::array::from_fn(|_| ODD[numbers.below(6) as usize]);
        let (status, outputs) = rt::hypercall_outputs(number, arguments);
        if status != H_FUNCTION || outputs != [0; 3] {
            wrong += 1;
        }
    }
    rt::println!("misbehave: {wrong} numbers without a call answered otherwise");
}

/// H_SET_MODE of every resource, with flags and values that it has and that it has not. Interrupts are in the other
/// endianness for a moment, in which none is taken.
pub(crate) fn set_mode(_: rt::Partition) {
    both(|vcpu| {
        let mut numbers = Numbers::new(5 + u64::from(vcpu));
        loop {
            let resource = numbers.below(8);
            let value = |numbers: &mut Numbers| match numbers.below(4) {
                0 => numbers.next(),
                1 => 1 << numbers.below(64),
                _ => 0,
            };
            let flags = if numbers.below(2) == 0 { numbers.below(5) } else { value(&mut numbers) };
            let values = [value(&mut numbers), value(&mut numbers)];
            call(Hypercall::SetMode, [flags, resource, values[0], values[1]]);
        }
    });
}

/// The hypercall that the argument `call=N` names by its place among all, without end, with arguments that let it do
/// as much as it can.
pub(crate) fn one_call(partition: rt::Partition) {
    const FIRST_BYTE: Field = Field::new(0, 7);
    // Of the smallest hashed page table.
    const SLOTS: u64 = 0x4000;
    const LEAST_LOG2: u64 = 18;
    let index = partition.number("call", 0usize);
    let which = *Hypercall::ALL.get(index).expect("call=N is the place of a hypercall");
    rt::println!("misbehave: {}", which.name());
    rt::on_interrupt(Vector::Decrementer, |_| rt::set_decrementer(rt::NEVER));
    let free = partition.free_memory();
    disks::prepare(free.start);
    // The queue's first entry is the first that is used.
    let mut round = u64::MAX;
    loop {
        round = round.wrapping_add(1);
        let other = round % 2;
        let arguments = match which {
            // The slots that it comes to next are full.
            Hypercall::ClearHpt => {
                const AT_A_TIME: u64 = 64;
                for slot in (round * AT_A_TIME..).take(AT_A_TIME as usize).map(|slot| slot % SLOTS)
                {
                    let first = hash::first::V | slot << 7;
                    call(
                        Hypercall::Enter,
                        [hashed::EXACT, slot, first, hash::second::M | free.start],
                    );
                }
                [0; 4]
            }
            Hypercall::PageInit => {
                let pages = (free.end - free.start - 0x1_0000) / 0x1000;
                [page::ZERO, free.start + round % pages * 0x1000, 0, 0]
            }
            Hypercall::PutTermChar => [0, 1, FIRST_BYTE.set(0, u64::from(b'.')), 0],
            Hypercall::GetTermChar | Hypercall::Ipoll | Hypercall::Prod => [0; 4],
            Hypercall::Cppr => [other * 0xFF, 0, 0, 0],
            Hypercall::Ipi => [0, other * 0xFF, 0, 0],
            Hypercall::RegisterVpa => {
                let function = [area::REGISTER_AREA, area::DEREGISTER_AREA][other as usize];
                let address = free.start.next_multiple_of(0x1000);
                // Its size, in the two bytes behind the first four.
                store(address, (640u64 << 16).to_be());
                [area::FUNCTION.set(0, function), 0, address, 0]
            }
            Hypercall::Confer => [u64::MAX, 0, 0, 0],
            Hypercall::SetMode => [other * 3, mode::INTERRUPT_LOCATION, 0, 0],
            Hypercall::ResizeHptPrepare => [0, LEAST_LOG2 + other, 0, 0],
            Hypercall::ResizeHptCommit => {
                crate::hashed::prepare(LEAST_LOG2 + other);
                [0, LEAST_LOG2 + other, 0, 0]
            }
            Hypercall::RegisterProcTbl => [process_table::DEREGISTER, 0, 0, 0],
            Hypercall::Cede => {
                rt::set_decrementer(1);
                [0; 4]
            }
            Hypercall::Rtas => {
                let _: [i32; 8] = rt::rtas_call(rtas::GET_TIME_OF_DAY, &[]);
                continue;
            }
            Hypercall::SetSprg0 => [round, 0, 0, 0],
            Hypercall::GetTce
            | Hypercall::PutTce
            | Hypercall::StuffTce
            | Hypercall::PutTceIndirect => [tce::WINDOW, 0, other << 12, 1],
            Hypercall::SendCrq => disks::read(free.start, round),
            Hypercall::RegCrq | Hypercall::FreeCrq => [UNIT, 0, 0x1000, 0],
            Hypercall::VioSignal | Hypercall::EnableCrq => [UNIT, other, 0, 0],
            Hypercall::Enter => {
                let page = free.start + round % 16 * 0x1000;
                [0, round % SLOTS, hash::first::V | round % SLOTS << 7, hash::second::M | page]
            }
            Hypercall::Read => [hashed::READ_4, round % SLOTS, 0, 0],
            Hypercall::BulkRemove => {
                let request = hashed::KIND.set(round % SLOTS, hashed::REQUEST);
                [request, 0, request + 1, 0]
            }
            Hypercall::BlockRemove => {
                let request = hashed::KIND.set(round % SLOTS, hashed::REQUEST);
                [0, request, request + 1, hashed::KIND.set(0, hashed::END)]
            }
            Hypercall::Remove | Hypercall::Protect | Hypercall::ClearRef | Hypercall::ClearMod => {
                [0, round % SLOTS, 0, 0]
            }
            Hypercall::Xirr
            | Hypercall::Eoi
            | Hypercall::Random
            | Hypercall::GetCpuCharacteristics => [0; 4],
        };
        call(which, arguments);
    }
}
