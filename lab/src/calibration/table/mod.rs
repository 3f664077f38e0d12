//! The model's figures beside the published ones: for programs here, for people in `table/text.rs`.

mod text;

use std::collections::BTreeMap;

use serde::Serialize;
use simulator::description::Description;

use super::curves::Curve;
use super::measure::Figures;
use super::predictions::Predictions;
use super::rows::{self, Group, Remark, Role, Row};

/// The most that half the quantum may move a figure by, as a fraction of it.
const MOST_MOVED: f64 = 0.02;

/// The version of the JSON's form.
const SCHEMA: u32 = 1;

/// All rows.
#[derive(Serialize, Clone, PartialEq, Debug)]
pub struct Comparison {
    schema: u32,
    machine: String,
    config_hash: String,
    /// Of the values of the machine's timing model.
    parameters_lock: String,
    /// Listed rows, still predicted and met.
    predicted: Count,
    /// Of them, those that the list began with.
    predicted_first: Count,
    /// Of them, those that came later.
    predicted_added: Count,
    /// Rows that set a value.
    fitted: Count,
    rows: Vec<Line>,
    /// What is published and not measured yet.
    open: Vec<Remark>,
    /// Listed rows that were none.
    withdrawn: Vec<Remark>,
    #[serde(skip_serializing_if = "Option::is_none")]
    curves: Option<Vec<Curve>>,
}

/// How many of so many.
#[derive(Serialize, Clone, Copy, PartialEq, Eq, Debug, Default)]
struct Count {
    met: usize,
    of: usize,
}

impl std::ops::Add for Count {
    type Output = Self;

    fn add(self, other: Self) -> Self {
        Self { met: self.met + other.met, of: self.of + other.of }
    }
}

/// One row.
#[derive(Serialize, Clone, PartialEq, Debug)]
struct Line {
    name: String,
    group: Group,
    /// The model's figure.
    model: f64,
    /// The same with every guess at an end, the lower of both.
    low: f64,
    /// The higher of both.
    high: f64,
    /// The published figure; the middle of an interval.
    published: f64,
    /// The ends of a published interval.
    published_range: Option<[f64; 2]>,
    unit: String,
    /// As a fraction of the published effect, of the nearer end of an interval.
    error: f64,
    /// By what fraction half the quantum moves the figure; `None` where one thread is all.
    #[serde(skip_serializing_if = "Option::is_none")]
    moved_by_half_quantum: Option<f64>,
    /// `published`, or `guess` where the model's figure moves with the guesses.
    confidence: &'static str,
    role: Role,
    /// Whether it is listed as a prediction.
    was_predicted: bool,
    source: String,
    /// Whether the group's tolerance is kept, and half the quantum does not show.
    is_met: bool,
}

impl Comparison {
    /// Puts the figures beside the rows.
    ///
    /// # Errors
    /// Names a row whose case was not run.
    pub fn new(
        description: &Description,
        rows: &[Row],
        predictions: Predictions,
        figures: &Figures,
    ) -> Result<Self, String> {
        let line = |row: &Row| {
            let figure =
                |cycles: &BTreeMap<String, f64>| row.figure(|case| cycles.get(case).copied());
            let [model, low, high] = figures
                .ends(figure)
                .ok_or_else(|| format!("the row `{}` needs a case that was not run", row.name))?;
            let error = row.error(model);
            let moved = figures.moved(row).map(|moved| moved - 1.0);
            let leans_on_guesses = high - low > 0.005 * model.abs();
            Ok(Line {
                name: row.name.clone(),
                group: row.group,
                model,
                low,
                high,
                published: row
                    .published_high
                    .map_or(row.published, |high| (row.published + high) / 2.0),
                published_range: row.published_high.map(|high| [row.published, high]),
                unit: row.unit.clone(),
                error,
                moved_by_half_quantum: moved,
                confidence: if leans_on_guesses { "guess" } else { "published" },
                role: row.role,
                was_predicted: predictions.has(&row.name),
                source: row.source.clone(),
                is_met: row.is_met(model) && moved.is_none_or(|moved| moved.abs() <= MOST_MOVED),
            })
        };
        let rows = rows.iter().map(line).collect::<Result<Vec<Line>, String>>()?;
        let of_list = |names: &[String]| {
            let of = names.iter().filter(|name| !predictions.is_withdrawn(name)).count();
            let is_met = |row: &&Line| {
                row.is_met && row.role == Role::Predicted && names.contains(&row.name)
            };
            Count { met: rows.iter().filter(is_met).count(), of }
        };
        let (first, added) = (of_list(&predictions.first), of_list(&predictions.added));
        let fitted = rows.iter().filter(|row| row.role == Role::Fitted);
        let fitted =
            Count { met: fitted.clone().filter(|row| row.is_met).count(), of: fitted.count() };
        Ok(Self {
            schema: SCHEMA,
            machine: description.name().to_owned(),
            config_hash: description.config_hash(),
            parameters_lock: description.timing().map_err(|error| error.to_string())?.checksum(),
            predicted: first + added,
            predicted_first: first,
            predicted_added: added,
            fitted,
            rows,
            open: predictions.open,
            withdrawn: predictions.withdrawn,
            curves: None,
        })
    }

    /// Adds the curves.
    ///
    /// # Errors
    /// Names a case that was not run.
    pub fn add_curves(&mut self, curves: &[rows::Curve], figures: &Figures) -> Result<(), String> {
        let curves = curves.iter().map(|curve| Curve::new(curve, figures));
        self.curves = Some(curves.collect::<Result<_, String>>()?);
        Ok(())
    }

    /// One line of JSON.
    #[must_use]
    pub fn json(&self) -> String {
        let text = serde_json::to_string(self).expect("a comparison has only string keys");
        format!("{text}\n")
    }

    /// The names of the rows that miss their group's tolerance.
    #[must_use]
    pub fn missed(&self) -> Vec<&str> {
        let missed = self.rows.iter().filter(|row| !row.is_met);
        missed.map(|row| row.name.as_str()).collect()
    }
}

#[cfg(test)]
mod tests;
