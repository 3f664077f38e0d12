//! The model beside the published: for people and for programs.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use comfy_table::{CellAlignment, ContentArrangement, Table, presets};
use serde::Serialize;
use simulator::description::Description;

use super::curves::Curve;
use super::measure::Figures;
use super::predictions::{Predictions, Remark};
use super::rows::{self, Group, Role, Row};

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
            parameters_lock: description.timing().checksum(),
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

    /// A table, and what of it was met.
    #[must_use]
    pub fn text(&self) -> String {
        let mut table = Table::new();
        table.load_preset(presets::NOTHING).set_content_arrangement(ContentArrangement::Disabled);
        table.set_header([
            "group",
            "figure",
            "model",
            "with guesses",
            "published",
            "error",
            "half quantum",
            "",
            "role",
        ]);
        for row in &self.rows {
            let published = match row.published_range {
                Some([low, high]) => format!("{low} to {high}"),
                None => row.published.to_string(),
            };
            let interval = if row.confidence == "guess" {
                format!("{:.2} to {:.2}", row.low, row.high)
            } else {
                String::new()
            };
            let verdict = if row.is_met { "" } else { "missed" };
            let role = match (row.role, row.was_predicted) {
                (Role::Fitted, false) => "fitted",
                (Role::Fitted, true) => "fitted since",
                (Role::Predicted, _) => "predicted",
            };
            table.add_row([
                format!("{:?}", row.group),
                if row.unit == "cycles" {
                    row.name.clone()
                } else {
                    format!("{} ({})", row.name, row.unit)
                },
                format!("{:.2}", row.model),
                interval,
                published,
                format!("{:+.1} %", row.error * 100.0),
                row.moved_by_half_quantum
                    .map_or(String::new(), |moved| format!("{:+.1} %", moved * 100.0)),
                verdict.to_owned(),
                role.to_owned(),
            ]);
        }
        for index in 2..7 {
            if let Some(column) = table.column_mut(index) {
                column.set_cell_alignment(CellAlignment::Right);
            }
        }
        let lines: Vec<String> = table.lines().map(|line| line.trim().to_owned()).collect();
        let mut text = format!(
            "machine {}, parameters {}, in cycles but where another unit is named\n\n{}\n\n{}",
            self.machine,
            self.parameters_lock,
            lines.join("\n"),
            self.summary()
        );
        for curve in self.curves.iter().flatten() {
            text.push_str(&format!("\n{}", curve.text()));
        }
        text
    }

    fn summary(&self) -> String {
        let Self { predicted, predicted_first: first, predicted_added: added, fitted, .. } = self;
        let mut text = format!(
            "predicted: {} of {} met ({} of {} listed first, {} of {} added; a row fitted since is not met)\n\
             fitted: {} of {} met\n\
             met is within 10 % in group A, 25 % in B, and in direction and within a factor of three in C; \
             a ratio is judged by what it differs from 1 by; half the quantum moves a figure of several threads by \
             2 % at most\n",
            predicted.met,
            predicted.of,
            first.met,
            first.of,
            added.met,
            added.of,
            fitted.met,
            fitted.of,
        );
        for (what, remarks) in [("open", &self.open), ("withdrawn", &self.withdrawn)] {
            for Remark { name, why } in remarks {
                let _ = writeln!(text, "{what}: {name}: {why}");
            }
        }
        text
    }

    /// The names of the rows that miss their group's tolerance.
    #[must_use]
    pub fn missed(&self) -> Vec<&str> {
        let missed = self.rows.iter().filter(|row| !row.is_met);
        missed.map(|row| row.name.as_str()).collect()
    }
}

#[cfg(test)]
mod tests {
    use simulator::description::Description;

    use super::Comparison;
    use crate::calibration::measure::Figures;
    use crate::calibration::predictions::Predictions;
    use crate::calibration::rows::{Group, Role, Row};
    use crate::machine_file::MachineFile;

    fn row(name: &str, group: Group, published: f64) -> Row {
        Row {
            name: name.to_owned(),
            case: "case".to_owned(),
            minus: None,
            over: None,
            times: 1.0,
            unit: "cycles".to_owned(),
            published,
            published_high: None,
            at_most: false,
            group,
            role: Role::Fitted,
            source: "somebody".to_owned(),
        }
    }

    fn description() -> Description {
        MachineFile::default().describe().unwrap()
    }

    fn figures(value: f64, low: f64, high: f64) -> Figures {
        let one = |cycles: f64| [("case".to_owned(), cycles)].into();
        Figures { value: one(value), low: one(low), high: one(high), ..Figures::default() }
    }

    #[test]
    fn what_half_the_quantum_moves_is_not_met() {
        let beside = |half: f64| {
            let mut figures = figures(30.0, 30.0, 30.0);
            for cycles in [&mut figures.value, &mut figures.low, &mut figures.high] {
                cycles.insert("alone".to_owned(), 10.0);
            }
            figures.half_quantum.insert("case".to_owned(), half);
            let row = Row {
                over: Some("alone".to_owned()),
                unit: "ratio".to_owned(),
                ..row("beside", Group::B, 3.0)
            };
            let rows = [row];
            Comparison::new(&description(), &rows, Predictions::default(), &figures).unwrap()
        };
        for (half, note) in [(30.0, "+0.0 %"), (30.5, "+1.7 %")] {
            let comparison = beside(half);
            assert!(comparison.missed().is_empty());
            assert!(comparison.text().contains(note), "{}", comparison.text());
        }
        for half in [29.0, 31.0] {
            assert_eq!(beside(half).missed(), ["beside"]);
        }
        assert!(beside(31.0).text().contains("+3.3 %  missed"));
        let alone = Comparison::new(
            &description(),
            &[row("alone", Group::A, 30.0)],
            Predictions::default(),
            &figures(30.0, 30.0, 30.0),
        );
        assert!(!alone.unwrap().json().contains("moved_by_half_quantum"));
    }

    #[test]
    fn what_misses_its_group_is_named() {
        let near = Row { role: Role::Predicted, ..row("near", Group::A, 10.0) };
        let rows = [near, row("far", Group::B, 20.0), row("wrong", Group::C, 90.0)];
        let predictions = Predictions {
            first: vec!["near".to_owned(), "far".to_owned()],
            ..Predictions::default()
        };
        let figures = figures(10.5, 10.5, 10.5);
        let comparison = Comparison::new(&description(), &rows, predictions, &figures).unwrap();
        assert_eq!(comparison.missed(), ["far", "wrong"]);
        let text = comparison.text();
        for line in
            ["predicted: 1 of 2 met (1 of 2 listed first, 0 of 0 added", "fitted: 0 of 2 met"]
        {
            assert!(text.contains(line), "{text}");
        }
        let json: serde_json::Value = serde_json::from_str(&comparison.json()).unwrap();
        assert_eq!(json["schema"], 1);
        assert_eq!(json["rows"][0]["role"], "predicted");
        assert_eq!(json["rows"][1]["was_predicted"], true);
        assert_eq!(json["rows"][0]["confidence"], "published");
    }

    #[test]
    fn what_moves_with_the_guesses_is_an_interval() {
        let rows = [row("guessed", Group::C, 10.0)];
        let comparison = Comparison::new(
            &description(),
            &rows,
            Predictions::default(),
            &figures(10.0, 12.0, 7.0),
        )
        .unwrap();
        assert!(comparison.text().contains("7.00 to 12.00"));
        assert!(comparison.json().contains("\"confidence\":\"guess\""));
    }

    #[test]
    fn a_case_that_was_not_run_is_named() {
        let none = Figures::default();
        let error = Comparison::new(
            &description(),
            &[row("lost", Group::A, 1.0)],
            Predictions::default(),
            &none,
        );
        assert!(error.unwrap_err().contains("lost"));
    }
}
