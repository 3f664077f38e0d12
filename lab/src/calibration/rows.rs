//! The published figures, and the cases that make the model's figure for each.

use std::collections::BTreeSet;
use std::ops::RangeInclusive;

use arch::processor::Processor;
use serde::{Deserialize, Serialize};

/// How near the model is to come.
#[derive(Serialize, Deserialize, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum Group {
    /// Within 10 %.
    A,
    /// Within 25 %.
    B,
    /// In direction, and within a factor of three.
    C,
}

impl Group {
    /// The errors, as fractions of the published effect, that are kept within.
    #[must_use]
    pub fn tolerance(self) -> RangeInclusive<f64> {
        match self {
            Self::A => -0.10..=0.10,
            Self::B => -0.25..=0.25,
            Self::C => -2.0 / 3.0..=2.0,
        }
    }
}

/// What a row's published figure was used for.
#[derive(Serialize, Deserialize, Clone, Copy, PartialEq, Eq, Debug)]
#[serde(rename_all = "lowercase")]
pub enum Role {
    /// It set a parameter of the machine's description.
    Fitted,
    /// It set nothing.
    Predicted,
}

/// When a row became one of the predictions.
#[derive(Deserialize, Clone, Copy, PartialEq, Eq, Debug)]
#[serde(rename_all = "lowercase")]
pub enum Listed {
    /// In the commit that began the list.
    First,
    /// Later.
    Added,
}

/// A published figure and how the model's is made.
#[derive(Deserialize, Clone, PartialEq, Debug)]
#[serde(deny_unknown_fields)]
pub struct Row {
    /// What it is.
    pub name: String,
    /// The case whose cycles an operation it is.
    pub case: String,
    /// The case to take off.
    pub minus: Option<String>,
    /// The case to divide by.
    pub over: Option<String>,
    /// What to multiply with.
    #[serde(default = "one")]
    pub times: f64,
    /// The published figure, or its low end.
    pub published: f64,
    /// Of what.
    #[serde(default = "cycles")]
    pub unit: String,
    /// Its high end.
    pub published_high: Option<f64>,
    /// Whether the published figure is the most that it may be, which is then all that is asked.
    #[serde(default)]
    pub at_most: bool,
    /// How near the model is to come.
    pub group: Group,
    /// What the published figure was used for.
    pub role: Role,
    /// Since when it is one of the predictions, if it is: whatever becomes of its role.
    pub listed: Option<Listed>,
    /// Who published it.
    pub source: String,
}

fn one() -> f64 {
    1.0
}

fn cycles() -> String {
    "cycles".to_owned()
}

/// What other hardware threads do while one is measured: see `guests/calibrate/src/siblings.S`.
#[derive(Deserialize, Clone, PartialEq, Eq, Debug)]
#[serde(deny_unknown_fields)]
pub struct Setup {
    /// Rows name a case of it as `CASE, NAME`; the number of others for `{}`.
    name: String,
    /// 1: they spin, or wait in `stop`; 2: one answers; 3: there are none, for curves; 4: they invalidate;
    /// 5: they spin, beside other loops; 6, 7: they do the same (POWER8).
    pub role: u8,
    /// How many, one boot for each.
    pub others: Vec<u8>,
    /// Their priority, 1 very low to 5 medium high; 0 for `stop`, 6 for Linux's snooze loop.
    pub priority: u8,
    /// Whether their `stop` lets the core take what they have.
    #[serde(default)]
    pub loses_state: bool,
    /// Distance of their PIRs.
    #[serde(default = "next")]
    pub distance: u32,
    /// Chips, cores of each, threads of each core.
    pub topology: [u32; 3],
}

fn next() -> u32 {
    1
}

impl Setup {
    /// Its name with so many others.
    #[must_use]
    pub fn name(&self, others: u8) -> String {
        self.name.replace("{}", &others.to_string())
    }
}

/// Figures by something that grows.
#[derive(Deserialize, Clone, PartialEq, Debug)]
#[serde(deny_unknown_fields)]
pub struct Curve {
    /// What they are.
    pub name: String,
    /// What grows.
    pub by: String,
    /// Its numbers.
    pub points: Vec<u64>,
    /// Figures that stand beside each other.
    pub series: Vec<Series>,
}

/// One figure of a curve.
#[derive(Deserialize, Clone, PartialEq, Debug)]
#[serde(deny_unknown_fields)]
pub struct Series {
    /// What it is.
    pub name: String,
    /// The case, the point's number for `{}`.
    case: String,
}

impl Series {
    /// The case at `point`.
    #[must_use]
    pub fn case(&self, point: u64) -> String {
        self.case.replace("{}", &point.to_string())
    }
}

/// The rows, the curves, and the set-ups that they need.
#[derive(Deserialize, Clone, PartialEq, Debug, Default)]
#[serde(deny_unknown_fields)]
pub struct Published {
    /// Set-ups with other threads, or with cases of their own.
    #[serde(rename = "setup", default)]
    pub setups: Vec<Setup>,
    /// What is shown as a curve.
    #[serde(rename = "curve", default)]
    pub curves: Vec<Curve>,
    /// What is published.
    #[serde(rename = "row", default)]
    pub rows: Vec<Row>,
    /// What is published and no case measures yet.
    #[serde(default)]
    pub open: Vec<Remark>,
    /// Rows that counted as predictions and could not fail: they are none any more.
    #[serde(default)]
    pub withdrawn: Vec<Withdrawn>,
}

/// A figure that is no row, and why.
#[derive(Serialize, Deserialize, Clone, PartialEq, Eq, Debug)]
#[serde(deny_unknown_fields)]
pub struct Remark {
    /// What it is.
    pub name: String,
    /// Why it is no row.
    pub why: String,
}

/// A prediction that is no row any more.
#[derive(Deserialize, Clone, PartialEq, Eq, Debug)]
#[serde(deny_unknown_fields)]
pub struct Withdrawn {
    /// What it was called.
    pub name: String,
    /// Since when it had been one.
    pub listed: Listed,
    /// Why it was none.
    pub why: String,
}

impl Published {
    /// The cases that the rows need, and the curves if they are asked for.
    #[must_use]
    pub fn cases(&self, with_curves: bool) -> BTreeSet<String> {
        let mut cases: BTreeSet<String> =
            self.rows.iter().flat_map(Row::cases).map(str::to_owned).collect();
        for curve in self.curves.iter().filter(|_| with_curves) {
            for series in &curve.series {
                cases.extend(curve.points.iter().map(|point| series.case(*point)));
            }
        }
        cases
    }
}

/// Path and text of each file of `calibration/power8/`. `build.rs` finds them.
const POWER8: &[(&str, &str)] = include!(concat!(env!("OUT_DIR"), "/power8.rs"));
/// The same of `calibration/power9/`.
const POWER9: &[(&str, &str)] = include!(concat!(env!("OUT_DIR"), "/power9.rs"));

/// The rows of a processor that come with the command.
///
/// # Panics
/// If a file, which is part of the command, is wrong; a test sees to that.
#[must_use]
pub fn of(processor: Processor) -> Published {
    let files = match processor {
        Processor::Power8 => POWER8,
        Processor::Power9 => POWER9,
    };
    let mut all = Published::default();
    let mut names = BTreeSet::new();
    for (path, text) in files {
        let file: Published =
            toml::from_str(text).unwrap_or_else(|error| panic!("{path}: {error}"));
        for row in &file.rows {
            assert!(names.insert(row.name.clone()), "{path}: {} is there twice", row.name);
        }
        all.setups.extend(file.setups);
        all.curves.extend(file.curves);
        all.rows.extend(file.rows);
        all.open.extend(file.open);
        all.withdrawn.extend(file.withdrawn);
    }
    all
}

impl Row {
    /// The cases that it is made of.
    pub fn cases(&self) -> impl Iterator<Item = &str> {
        let parts = [Some(&self.case), self.minus.as_ref(), self.over.as_ref()];
        parts.into_iter().flatten().map(String::as_str)
    }

    /// The model's figure from cycles an operation by case, or `None` if a case was not run.
    #[must_use]
    pub fn figure(&self, cycles: impl Fn(&str) -> Option<f64>) -> Option<f64> {
        let minus = match &self.minus {
            Some(case) => cycles(case)?,
            None => 0.0,
        };
        let over = match &self.over {
            Some(case) => cycles(case)?,
            None => 1.0,
        };
        Some((cycles(&self.case)? - minus) / over * self.times)
    }

    /// How far the model's effect is from the published one, as a fraction of it, at its nearer end: 0 within
    /// an interval. The effect of a ratio is what it differs from 1 by; where that is nothing, the error is
    /// what the model's differs by.
    #[must_use]
    pub fn error(&self, model: f64) -> f64 {
        let (low, high) = (self.published, self.published_high.unwrap_or(self.published));
        let low = if self.at_most { low.min(model) } else { low };
        let none = if self.unit == "ratio" { 1.0 } else { 0.0 };
        let end = model.clamp(low, high);
        if end == none { model - none } else { (model - none) / (end - none) - 1.0 }
    }

    /// Whether the group's tolerance is kept.
    #[must_use]
    pub fn is_met(&self, model: f64) -> bool {
        let tolerance = if self.at_most { 0.0..=0.0 } else { self.group.tolerance() };
        tolerance.contains(&self.error(model))
    }
}

#[cfg(test)]
mod tests {
    use super::{Group, Listed, Role, Row, of};
    use arch::processor::Processor;

    /// A published interval that is wider, as a factor, is no row: hardly anything misses it.
    const WIDEST: f64 = 3.0;

    fn row() -> Row {
        Row {
            name: "a".to_owned(),
            case: "one".to_owned(),
            minus: Some("two".to_owned()),
            over: None,
            times: 2.0,
            unit: "cycles".to_owned(),
            published: 10.0,
            published_high: Some(20.0),
            at_most: false,
            group: Group::B,
            role: Role::Predicted,
            listed: Some(Listed::Added),
            source: "somebody".to_owned(),
        }
    }

    #[test]
    fn the_rows_in_the_tree_are_right() {
        for row in Processor::ALL.into_iter().flat_map(|processor| of(processor).rows) {
            assert!(row.published > 0.0 && row.times > 0.0, "{}", row.name);
            let is_row = |high: f64| row.published < high && high <= WIDEST * row.published;
            assert!(row.published_high.is_none_or(is_row), "{} could hardly fail", row.name);
            let is_effect = row.unit != "ratio" || row.published != 1.0 || row.group != Group::C;
            assert!(is_effect, "{} states no direction", row.name);
            assert!(!row.source.is_empty(), "{}", row.name);
        }
    }

    #[test]
    fn a_figure_is_a_difference_of_cases() {
        let figure =
            |two: Option<f64>| row().figure(|case| if case == "one" { Some(9.0) } else { two });
        assert_eq!(figure(Some(4.0)), Some(10.0));
        assert_eq!(figure(None), None);
    }

    #[test]
    fn within_the_interval_there_is_no_error() {
        assert_eq!([5.0, 10.0, 20.0, 30.0].map(|model| row().error(model)), [-0.5, 0.0, 0.0, 0.5]);
    }

    #[test]
    fn a_ratio_is_judged_by_its_effect() {
        let ratio = |group| Row {
            unit: "ratio".to_owned(),
            published: 1.2,
            published_high: None,
            group,
            ..row()
        };
        let errors = [1.0, 1.2, 1.4].map(|model| ratio(Group::B).error(model));
        assert!(errors.iter().zip([-1.0, 0.0, 1.0]).all(|(is, of)| (is - of).abs() < 1e-9));
        let met = [0.9, 1.0, 1.1, 1.5, 1.9].map(|model| ratio(Group::C).is_met(model));
        assert_eq!(met, [false, false, true, true, false]);
        let same = Row { published: 1.0, ..ratio(Group::B) };
        assert!((same.error(1.5) - 0.5).abs() < 1e-9);
    }

    #[test]
    fn of_a_bound_no_more_is_asked_than_that_it_holds() {
        let bound = Row { at_most: true, published_high: None, ..row() };
        assert_eq!([0.0, 10.0, 10.1].map(|model| bound.is_met(model)), [true, true, false]);
    }
}
