//! Results that do not fit become the nearest that does, and VSCR\[SAT\] remembers.

use std::cell::Cell;

use arch::instruction::Word;
use arch::registers::vscr;

use super::lane::{Lane, build, get};
use super::{a, b, put};
use crate::exec::Outcome;
use crate::state::thread::Thread;

/// An element that a wider number is brought into.
pub(super) trait Saturate: Lane {
    /// The smallest and the largest.
    const RANGE: (i64, i64);

    /// `value`, which is in the range.
    fn of(value: i64) -> Self;
}

macro_rules! saturate {
    ($($type:ident)*) => {
        $(
            impl Saturate for $type {
                const RANGE: (i64, i64) = ($type::MIN as i64, $type::MAX as i64);

                fn of(value: i64) -> Self {
                    value as $type
                }
            }
        )*
    };
}

saturate! { u8 u16 u32 i8 i16 i32 }

/// Saturates, and remembers whether it had to.
#[derive(Default)]
pub(super) struct Saturation(Cell<bool>);

impl Saturation {
    /// `value`, or the end of the range that it is beyond.
    pub(super) fn clamp<S: Saturate>(&self, value: i64) -> S {
        let (least, most) = S::RANGE;
        let clamped = value.clamp(least, most);
        self.0.set(self.0.get() || clamped != value);
        S::of(clamped)
    }

    /// Leaves it in VSCR\[SAT\].
    pub(super) fn leave(&self, thread: &mut Thread) {
        if self.0.get() {
            thread.vscr |= vscr::SAT;
        }
    }
}

/// Sets VRT to what `f` makes of the elements of VRA and VRB at each place, saturated.
pub(super) fn saturating<S: Saturate>(
    thread: &mut Thread,
    i: Word,
    f: impl Fn(S, S) -> i64,
) -> Outcome {
    let (a, b) = (a(thread, i), b(thread, i));
    saturated::<S>(thread, i, |index| f(get(a, index), get(b, index)))
}

/// Sets VRT to what `f` gives for each place, saturated.
pub(super) fn saturated<S: Saturate>(
    thread: &mut Thread,
    i: Word,
    f: impl Fn(u32) -> i64,
) -> Outcome {
    let saturation = Saturation::default();
    let result = build::<S>(|index| saturation.clamp(f(index)));
    saturation.leave(thread);
    put(thread, i, result)
}
