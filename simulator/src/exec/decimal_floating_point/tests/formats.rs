//! The formats, against encodings that are published, and against themselves.

use proptest::prelude::{ProptestConfig, any, prop_assert_eq, proptest};

use super::super::digits::encode;
use super::super::format::{EXTENDED, Format, LONG, SHORT};
use super::super::number::{Class, Decimal};

const FORMATS: [(&Format, u32); 3] = [(SHORT, 32), (LONG, 64), (EXTENDED, 128)];

/// From the examples of the General Decimal Arithmetic encodings: -7.50, the greatest number, one.
#[test]
fn published_encodings() {
    let minus_seven_and_a_half = Decimal::finite(true, -2, 750);
    assert_eq!(SHORT.pack(minus_seven_and_a_half), 0xA230_03D0);
    assert_eq!(LONG.pack(minus_seven_and_a_half), 0xA230_0000_0000_03D0);
    assert_eq!(EXTENDED.pack(minus_seven_and_a_half), 0xA207_8000_0000_0000_0000_0000_0000_03D0);
    let greatest = Decimal::finite(false, 369, 9_999_999_999_999_999);
    assert_eq!(LONG.pack(greatest), 0x77FC_FF3F_CFF3_FCFF);
    assert_eq!(LONG.unpack(0x77FC_FF3F_CFF3_FCFF), greatest);
    assert_eq!(LONG.pack(Decimal::finite(false, 0, 1)), 0x2238_0000_0000_0001);
    assert_eq!(LONG.pack(Decimal::infinity(true)), 0xF800_0000_0000_0000);
    assert_eq!(LONG.pack(Decimal::DEFAULT_NAN), 0x7C00_0000_0000_0000);
    let signalling = LONG.unpack(0x7E00_0000_0000_0010);
    assert_eq!((signalling.class, signalling.coefficient), (Class::SignallingNan, 10));
}

#[test]
fn the_ranges_are_those_of_the_standard() {
    let ranges = FORMATS.map(|(format, _)| {
        let digits = format.digits();
        (digits, format.least_exponent(), format.least_leading(), format.greatest_leading())
    });
    assert_eq!(ranges, [(7, -101, -95, 96), (16, -398, -383, 384), (34, -6176, -6143, 6144)]);
}

#[test]
fn digits_of_four_bits_become_numbers() {
    let number = |negative, coefficient| Some(Decimal::finite(negative, 0, coefficient));
    assert_eq!(encode(0x9876, 16, false), number(false, 9876));
    for (sign, negative) in
        [(0xA, false), (0xB, true), (0xC, false), (0xD, true), (0xE, false), (0xF, false)]
    {
        assert_eq!(encode(0x9870 | sign, 16, true), number(negative, 987));
    }
    assert_eq!(encode(0x9879, 16, true), None);
    assert_eq!(encode(0xA0, 16, false), None);
    assert_eq!(encode(0x9 << 60, 16, false), number(false, 9_000_000_000_000_000));
    assert_eq!(encode(0x9 << 60, 15, false), number(false, 0));
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2_000))]

    #[test]
    fn packing_undoes_unpacking_but_for_what_has_two_encodings(bits: u128, special: bool) {
        for (format, width) in FORMATS {
            // Half of them special.
            let high = if special { 0xF << (width - 5) } else { 0 };
            let bits = bits & (u128::MAX >> (128 - width)) | high;
            let datum = format.unpack(bits);
            let packed = format.pack(datum);
            prop_assert_eq!(format.unpack(packed), datum);
            prop_assert_eq!(format.pack(format.unpack(packed)), packed);
            prop_assert_eq!(packed >> (width - 1), bits >> (width - 1));
        }
    }

    #[test]
    fn every_number_has_an_encoding(negative in any::<bool>(), step in any::<u128>()) {
        for (format, _) in FORMATS {
            let coefficient = step % 10_u128.pow(format.digits());
            let exponents = (format.greatest_exponent() - format.least_exponent()) as u128;
            let exponent = format.least_exponent() + (step % (exponents + 1)) as i32;
            let number = Decimal::finite(negative, exponent, coefficient);
            prop_assert_eq!(format.unpack(format.pack(number)), number);
        }
    }
}
