//! What variants lose against one of them: how much less work they do in the same time.

use crate::metric::Figure;
use crate::rates::KINDS;

/// A loss in percent of the work that the baseline does: 0 if both take as long, 50 if the variant takes twice as long.
pub const LOSS: &str = "loss_percent";
/// The cycles that the variant needs more for the same work.
pub const ADDED: &str = "added_cycles";

/// What the loss of a rate is called, if the figure with this name is one: what is not got done in the same time.
#[must_use]
pub fn name_of(rate: &str) -> Option<String> {
    KINDS
        .iter()
        .find(|kind| rate.split_once('_').is_some_and(|(stem, _)| stem == **kind))
        .map(|kind| format!("{kind}_{LOSS}"))
}

/// The loss of one that gets `rate` done in a second against one that gets `baseline` done.
#[must_use]
pub fn of_rates(rate: f64, baseline: f64) -> Figure {
    Figure::Real(((1.0 - rate / baseline) * 1e6).round() / 1e4)
}

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
    use super::{name_of, of, of_rates};

    #[test]
    fn who_takes_twice_as_long_loses_half() {
        let [(_, _, loss), (_, _, added)] = of(200.0, 100.0);
        assert_eq!((loss.number(), added.number()), (50.0, 100.0));
        assert_eq!(of_rates(50.0, 100.0).number(), 50.0);
        let [(_, _, loss), (_, _, added)] = of(80.0, 100.0);
        assert_eq!((loss.number(), added.number()), (-25.0, -20.0));
    }

    #[test]
    fn rates_alone_have_losses_of_their_own() {
        assert_eq!(name_of("add_bytes_per_second").as_deref(), Some("add_loss_percent"));
        assert_eq!(name_of("added_cycles"), None);
        assert_eq!(name_of("cycles_per_job"), None);
    }
}
