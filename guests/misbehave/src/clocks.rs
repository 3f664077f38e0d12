//! Decrementers set to all that they can hold, as often as possible, and read; sleeps with them.

use arch::interrupt::Vector;
use arch::papr::Hypercall;
use rt::random::Numbers;

use crate::misbehavior::{execute, skip};

/// What a decrementer may be set to: of 32 and of 56 bits, just before and behind a change of the sign.
const VALUES: [u64; 12] = [
    0,
    1,
    2,
    0x7FFF_FFFF,
    0x8000_0000,
    0xFFFF_FFFF,
    0x1_0000_0000,
    (1 << 55) - 1,
    1 << 55,
    (1 << 56) - 1,
    1 << 63,
    u64::MAX,
];
const MFDEC: u32 = 0x7C76_02A6;
const MFHDEC: u32 = 0x7C76_4AA6;
const MTHDEC: u32 = 0x7C76_4BA6;

/// Two vCPUs do so without end.
pub(crate) fn clocks(_: rt::Partition) {
    rt::on_interrupt(Vector::Decrementer, |_| rt::set_decrementer(64));
    rt::on_interrupt(Vector::Program, skip);
    assert_eq!(rt::start_vcpu(1, without_end), 0, "start-cpu");
    without_end(0);
}

fn without_end(number: u32) {
    let mut numbers = Numbers::new(1 + u64::from(number));
    loop {
        let value = match numbers.below(4) {
            0 => numbers.next(),
            1 => numbers.below(64),
            _ => VALUES[numbers.below(VALUES.len() as u64) as usize],
        };
        rt::set_decrementer(value);
        match numbers.below(8) {
            // Whatever it says, the vCPU goes on or its partition ends: somebody else is to wake it.
            0 if value < 1 << 20 => {
                rt::hypercall(Hypercall::Cede as u64, [0; 4]);
            }
            1 => rt::allow_interrupts(true),
            2 => rt::allow_interrupts(false),
            3 => execute::<MFDEC>(0),
            4 => execute::<MFHDEC>(0),
            5 => execute::<MTHDEC>(value),
            _ => {}
        }
    }
}
