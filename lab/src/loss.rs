//! What variants lose against one of them: how much less work they do in the same time.

use crate::metric::Figure;

/// A loss in percent of the work that the baseline does: 0 if both take as long, 50 if the variant takes twice as long.
pub const LOSS: &str = "loss_percent";
/// The cycles that the variant needs more for the same work.
pub const ADDED: &str = "added_cycles";

/// Loss and added cycles of one that takes `cycles` against one that takes `baseline`.
#[must_use]
pub fn of(cycles: f64, baseline: f64) -> [(&'static str, &'static str, Figure); 2] {
    let real = |value: f64| Figure::Real((value * 1e4).round() / 1e4);
    [
        (LOSS, "percent", real((1.0 - baseline / cycles) * 100.0)),
        (ADDED, "cycles", real(cycles - baseline)),
    ]
}

#[cfg(test)]
mod tests {
    use super::of;

    #[test]
    fn who_takes_twice_as_long_loses_half() {
        let [(_, _, loss), (_, _, added)] = of(200.0, 100.0);
        assert_eq!((loss.number(), added.number()), (50.0, 100.0));
        let [(_, _, loss), (_, _, added)] = of(80.0, 100.0);
        assert_eq!((loss.number(), added.number()), (-25.0, -20.0));
    }
}
