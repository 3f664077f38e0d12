//! A number with room for the exact product of two of the quad format.

use super::number::Number;

/// A number: (`high`, `low`) / 2^254 x 2^`exponent`. The top bit of `high` is clear but in a sum.
#[derive(Clone, Copy, Debug)]
pub(super) struct Wide {
    negative: bool,
    exponent: i32,
    high: u128,
    low: u128,
}

impl Wide {
    /// The exact product. Its lowest bit before the shift is zero: operands have 113 bits.
    pub(super) fn product(a: Number, b: Number) -> Self {
        let (high, low) = multiply(a.significand, b.significand);
        Self {
            negative: a.negative != b.negative,
            exponent: a.exponent + b.exponent + 1,
            high: high >> 1,
            low: high << 127 | low >> 1,
        }
    }

    /// The sum; `None` if it is zero.
    pub(super) fn plus(self, other: Self) -> Option<Self> {
        let (large, small) =
            if self.exponent < other.exponent { (other, self) } else { (self, other) };
        let small = small.shifted((large.exponent - small.exponent) as u32);
        if large.negative == small.negative {
            let (low, has_carry) = large.low.overflowing_add(small.low);
            let high = large.high + small.high + u128::from(has_carry);
            return Some(Self { high, low, ..large });
        }
        // The one with the greater exponent may still have the smaller magnitude, if the other is a
        // product with its leading bit one place higher.
        let is_swapped = (large.high, large.low) < (small.high, small.low);
        let (minuend, subtrahend) = if is_swapped { (small, large) } else { (large, small) };
        let (low, has_borrow) = minuend.low.overflowing_sub(subtrahend.low);
        let high = minuend.high - subtrahend.high - u128::from(has_borrow);
        let difference = Self { negative: minuend.negative, high, low, ..large };
        (high | low != 0).then_some(difference)
    }

    /// 128 bits with the lowest sticky. The number is not zero.
    pub(super) fn narrow(self) -> Number {
        let Self { negative, exponent, high, low } = self;
        let (zeros, significand, rest) = match (high.leading_zeros(), low.leading_zeros()) {
            (128, zeros) => (128 + zeros, low << zeros, 0),
            (0, _) => (0, high, low),
            (zeros, _) => (zeros, high << zeros | low >> (128 - zeros), low << zeros),
        };
        Number {
            negative,
            exponent: exponent + 1 - zeros as i32,
            significand: significand | u128::from(rest != 0),
        }
    }

    /// The significand shifted right; the lowest bit is set if any bit that went out was. The exponent
    /// stays.
    fn shifted(self, distance: u32) -> Self {
        let Self { high, low, .. } = self;
        let (high, low, lost) = match distance {
            0 => (high, low, 0),
            1..128 => {
                let back = 128 - distance;
                (high >> distance, high << back | low >> distance, low << back)
            }
            128 => (0, high, low),
            129..256 => (0, high >> (distance - 128), high << (256 - distance) | low),
            _ => (0, 0, high | low),
        };
        Self { high, low: low | u128::from(lost != 0), ..self }
    }
}

impl Number {
    /// The sum; `None` if it is zero.
    pub(super) fn plus(self, other: Self) -> Option<Self> {
        Wide::from(self).plus(Wide::from(other)).map(Wide::narrow)
    }

    /// The product.
    pub(super) fn times(self, other: Self) -> Self {
        Wide::product(self, other).narrow()
    }

    /// (`self` x `factor`) + `addend`; `None` if it is zero.
    pub(super) fn times_plus(self, factor: Self, addend: Self) -> Option<Self> {
        Wide::product(self, factor).plus(Wide::from(addend)).map(Wide::narrow)
    }
}

impl From<Number> for Wide {
    fn from(number: Number) -> Self {
        let Number { negative, exponent, significand } = number;
        Self { negative, exponent, high: significand >> 1, low: significand << 127 }
    }
}

/// The product, upper and lower half.
fn multiply(a: u128, b: u128) -> (u128, u128) {
    let halves = |value: u128| (value >> 64, value & u128::from(u64::MAX));
    let ((a_high, a_low), (b_high, b_low)) = (halves(a), halves(b));
    let (carry, lowest) = halves(a_low * b_low);
    let (upper, middle) = halves(a_high * b_low + carry);
    let (carry, middle) = halves(a_low * b_high + middle);
    (a_high * b_high + upper + carry, middle << 64 | lowest)
}

#[cfg(test)]
mod tests {
    use super::Wide;
    use ethnum::U256;

    #[test]
    fn what_goes_out_of_a_shifted_number_sticks() {
        let halves = [0, 1, 1 << 127, 1 << 126, u128::MAX, 0x0123_4567_89AB_CDEF << 32];
        for (high, low) in halves.iter().flat_map(|high| halves.map(|low| (*high, low))) {
            let whole = U256::from_words(high, low);
            for distance in 0..260 {
                let number = Wide { negative: false, exponent: 0, high, low };
                let shifted = number.shifted(distance);
                let kept = if distance < 256 { whole >> distance } else { U256::ZERO };
                let is_lost = distance > 0 && whole.trailing_zeros() < distance;
                let expected = kept | U256::from(whole != U256::ZERO && is_lost);
                let found = U256::from_words(shifted.high, shifted.low);
                assert_eq!(found, expected, "{whole:#x} by {distance}");
            }
        }
    }
}
