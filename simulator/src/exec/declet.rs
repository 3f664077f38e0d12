//! Declets: three decimal digits in ten bits (densely packed decimal). Power ISA 3.0B Book I appendix B.

/// The three digits of a declet. With v clear the digits are all
/// small (0 to 7); otherwise w, x, s and t tell which are large (8 or 9, one bit each).
pub(super) fn bcd(declet: u32) -> u32 {
    let [pq, r, st, u, v, wx, y] = [(8, 3), (7, 1), (5, 3), (4, 1), (3, 1), (1, 3), (0, 1)]
        .map(|(at, mask)| declet >> at & mask);
    let small = |high: u32, low: u32| high << 1 | low;
    let large = |low: u32| 8 | low;
    let (first, second, third) = match (v, wx, st) {
        (0, ..) => (small(pq, r), small(st, u), small(wx, y)),
        (_, 0b00, _) => (small(pq, r), small(st, u), large(y)),
        (_, 0b01, _) => (small(pq, r), large(u), small(st, y)),
        (_, 0b10, _) => (large(r), small(st, u), small(pq, y)),
        (_, _, 0b00) => (large(r), large(u), small(pq, y)),
        (_, _, 0b01) => (large(r), small(pq, u), large(y)),
        (_, _, 0b10) => (small(pq, r), large(u), large(y)),
        _ => (large(r), large(u), large(y)),
    };
    first << 8 | second << 4 | third
}

/// The declet of three digits: the inverse of [`bcd`]. What digits above 9 give is undefined; the
/// bits a large digit does not keep are ignored.
pub(super) fn declet(digits: u32) -> u32 {
    let [first, second, third] = [digits >> 8, digits >> 4, digits].map(|digit| digit & 0xF);
    let [r, u, y] = [first & 1, second & 1, third & 1];
    let high = |digit: u32| digit >> 1 & 3;
    let (pq, st, v, wx) = match (first >> 3, second >> 3, third >> 3) {
        (0, 0, 0) => (high(first), high(second), 0, high(third)),
        (0, 0, _) => (high(first), high(second), 1, 0b00),
        (0, _, 0) => (high(first), high(third), 1, 0b01),
        (_, 0, 0) => (high(third), high(second), 1, 0b10),
        (_, _, 0) => (high(third), 0b00, 1, 0b11),
        (_, 0, _) => (high(second), 0b01, 1, 0b11),
        (0, ..) => (high(first), 0b10, 1, 0b11),
        _ => (0, 0b11, 1, 0b11),
    };
    pq << 8 | r << 7 | st << 5 | u << 4 | v << 3 | wx << 1 | y
}

#[cfg(test)]
mod tests {
    use super::{bcd, declet};

    #[test]
    fn a_declet_holds_every_number_of_three_digits() {
        for number in 0..1000 {
            let digits = [number / 100, number / 10 % 10, number % 10];
            let digits = digits.iter().fold(0, |digits, digit| digits << 4 | digit);
            assert_eq!(bcd(declet(digits)), digits);
        }
    }

    #[test]
    fn every_declet_has_three_digits_and_24_are_other_ways_to_write_them() {
        let digits = (0..1024).map(bcd);
        assert!(digits.clone().all(|three| (0..3).all(|at| three >> (4 * at) & 0xF <= 9)));
        let other_ways: Vec<u32> = (0..1024).filter(|&word| declet(bcd(word)) != word).collect();
        assert_eq!(other_ways.len(), 24);
        assert!(other_ways.iter().all(|word| word & 0x300 != 0 && word & 0x06E >= 0x06E));
    }
}
