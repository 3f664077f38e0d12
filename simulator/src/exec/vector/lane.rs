//! A vector as elements of one width. Element 0 is in the most significant bits, as the architecture counts.

/// An element.
pub(in crate::exec) trait Lane: Copy + Default + PartialEq {
    /// Its width.
    const BITS: u32;
    /// How many are in a vector.
    const COUNT: u32 = 128 / Self::BITS;

    /// The element in the low bits of `value`.
    fn from_low(value: u128) -> Self;

    /// Its bits, with zeros above.
    fn bits(self) -> u128;
}

macro_rules! lanes {
    ($($type:ident as $unsigned:ident)*) => {
        $(
            impl Lane for $type {
                const BITS: u32 = $type::BITS;

                #[inline(always)]
                fn from_low(value: u128) -> Self {
                    value as $type
                }

                #[inline(always)]
                fn bits(self) -> u128 {
                    u128::from(self as $unsigned)
                }
            }
        )*
    };
}

lanes! { u8 as u8 u16 as u16 u32 as u32 u64 as u64 i8 as u8 i16 as u16 i32 as u32 i64 as u64 }
lanes! { u128 as u128 i128 as u128 }

/// Element `index` of `vector`; the index counts modulo the number of elements.
#[inline(always)]
pub(in crate::exec) fn get<L: Lane>(vector: u128, index: u32) -> L {
    let from_right = L::COUNT - 1 - index % L::COUNT;
    L::from_low(vector >> (from_right * L::BITS))
}

/// The vector whose element `index` is `f(index)`.
#[inline(always)]
pub(in crate::exec) fn build<L: Lane>(f: impl Fn(u32) -> L) -> u128 {
    (0..L::COUNT).fold(0, |vector, index| {
        // A shift by the whole width is none of a vector that is zero.
        vector.checked_shl(L::BITS).unwrap_or(0) | f(index).bits()
    })
}

/// `f` of each element.
#[inline(always)]
pub(in crate::exec) fn map<L: Lane, R: Lane>(a: u128, f: impl Fn(L) -> R) -> u128 {
    build(|index| f(get(a, index)))
}

/// `f` of the elements at each place.
#[inline(always)]
pub(in crate::exec) fn zip<L: Lane, R: Lane>(a: u128, b: u128, f: impl Fn(L, L) -> R) -> u128 {
    build(|index| f(get(a, index), get(b, index)))
}

#[cfg(test)]
mod tests {
    use super::{build, get, map, zip};

    const VECTOR: u128 = 0x0001_0203_0405_0607_0809_0A0B_0C0D_0E0F;

    #[test]
    fn element_0_is_the_most_significant() {
        assert_eq!(
            (0..16).map(|index| get::<u8>(VECTOR, index)).collect::<Vec<_>>(),
            Vec::from_iter(0..16)
        );
        assert_eq!((get::<u16>(VECTOR, 7), get::<u32>(VECTOR, 1)), (0x0E0F, 0x0405_0607));
        assert_eq!(
            (get::<u64>(VECTOR, 1), get::<u128>(VECTOR, 0)),
            (0x0809_0A0B_0C0D_0E0F, VECTOR)
        );
    }

    #[test]
    fn elements_are_put_where_they_are_taken() {
        assert_eq!(build(|index| get::<u16>(VECTOR, index)), VECTOR);
        assert_eq!(build::<u128>(|_| VECTOR), VECTOR);
        assert_eq!(map(VECTOR, |byte: i8| byte), VECTOR);
        assert_eq!(zip(VECTOR, VECTOR, |a: u8, b| a - b), 0);
        assert_eq!(map(0, |_: i32| -1_i32), u128::MAX);
    }
}
