//! H_REGISTER_VPA of everything, everywhere, for everybody, beside a restart.

use arch::papr::{Hypercall, area};
use rt::random::Numbers;

use crate::misbehavior::store;

/// Functions with a meaning, and two without.
const FUNCTIONS: [u64; 8] = [
    area::REGISTER_AREA,
    area::REGISTER_LOG,
    area::REGISTER_SHADOW,
    area::DEREGISTER_AREA,
    area::DEREGISTER_LOG,
    area::DEREGISTER_SHADOW,
    0,
    4,
];
/// Calls of the first vCPU before it starts anew.
const ROUNDS: u32 = 200;

/// Three vCPUs register and take back what they can of each other's, and the first one starts anew.
pub(crate) fn areas(partition: rt::Partition) {
    for number in 1..partition.vcpus() {
        assert_eq!(rt::start_vcpu(number, without_end), 0, "start-cpu");
    }
    let mut numbers = Numbers::new(rt::timebase() | 1);
    (0..ROUNDS).for_each(|_| register(&mut numbers));
    crate::life::restart();
}

fn without_end(number: u32) {
    let mut numbers = Numbers::new(rt::timebase() | u64::from(number));
    loop {
        register(&mut numbers);
    }
}

/// One call, for one vCPU or none. The places are in a megabyte of the memory that is nobody's, or
/// outside.
fn register(numbers: &mut Numbers) {
    const FREE: u64 = 8 << 20;
    let address = match numbers.below(8) {
        0 => numbers.next(),
        1 => FREE + numbers.below(1 << 20),
        2 => 0,
        _ => FREE + numbers.below(1 << 13) * 128,
    };
    if (FREE..FREE + (1 << 20)).contains(&address) {
        let length: u64 = [0, 8, 96, 640, 4096, 0xFFFF][numbers.below(6) as usize];
        // As an area has it, and as a log does.
        let length = if numbers.below(2) == 0 { length << 16 } else { length };
        store(address & !7, length.to_be());
    }
    let function = FUNCTIONS[numbers.below(8) as usize];
    let flags =
        area::FUNCTION.set(if numbers.below(16) == 0 { numbers.next() } else { 0 }, function);
    rt::hypercall(Hypercall::RegisterVpa as u64, [flags, numbers.below(7), address, 0]);
    if numbers.below(4) == 0 {
        rt::hypercall(Hypercall::Confer as u64, [u64::MAX, 0, 0, 0]);
    }
}
