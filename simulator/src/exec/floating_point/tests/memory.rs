//! The format conversions of loads and stores.

use proptest::prelude::{any, prop_assert_eq, proptest};

use super::super::load::double_from_single;
use super::super::store::single_from_double;

proptest! {
    #[test]
    fn a_single_survives_load_and_store(single in any::<u32>()) {
        prop_assert_eq!(single_from_double(double_from_single(single)), single);
    }

    #[test]
    fn a_number_keeps_its_value(single in any::<u32>()) {
        let value = f32::from_bits(single);
        if !value.is_nan() {
            prop_assert_eq!(double_from_single(single), f64::from(value).to_bits());
        }
    }
}

#[test]
fn every_denormal_single_survives() {
    for single in 0..0x0080_0000 {
        let double = double_from_single(single);
        assert_eq!(double, f64::from(f32::from_bits(single)).to_bits());
        assert_eq!(single_from_double(double), single);
    }
}

#[test]
fn a_nan_is_not_quieted() {
    assert_eq!(double_from_single(0x7F80_0001), 0x7FF0_0000_2000_0000);
    assert_eq!(single_from_double(0x7FF0_0000_2000_0000), 0x7F80_0001);
}

#[test]
fn what_single_format_cannot_hold_is_cut_off() {
    assert_eq!(single_from_double(1_f64.to_bits() | 0x1FFF_FFFF), 1_f32.to_bits());
    // Below the least denormal number: undefined in the architecture.
    assert_eq!(single_from_double((-1e-60_f64).to_bits()), 0x8000_0000);
}
