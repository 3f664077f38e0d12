//! The model beside the published: for people and for programs.

use std::collections::BTreeMap;

use comfy_table::{CellAlignment, ContentArrangement, Table, presets};
use serde::Serialize;

use super::curves::Curve;
use super::measure::Figures;
use super::rows::{self, Group, Role, Row};

/// The version of the JSON's form.
const SCHEMA: u32 = 1;

/// All rows.
#[derive(Serialize, Clone, PartialEq, Debug)]
pub struct Comparison {
    schema: u32,
    machine: String,
    config_hash: String,
    rows: Vec<Line>,
    #[serde(skip_serializing_if = "Option::is_none")]
    curves: Option<Vec<Curve>>,
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
    /// As a fraction of the published figure, of the nearer end of an interval.
    error: f64,
    /// `published`, or `guess` where the model's figure moves with the guesses.
    confidence: &'static str,
    role: Role,
    source: String,
    /// Whether the group's tolerance is kept; in group C there is none.
    is_met: Option<bool>,
}

impl Comparison {
    /// Puts the figures beside the rows.
    ///
    /// # Errors
    /// Names a row whose case was not run.
    pub fn new(
        machine: &str,
        config_hash: String,
        rows: &[Row],
        figures: &Figures,
    ) -> Result<Self, String> {
        let line = |row: &Row| {
            let figure =
                |cycles: &BTreeMap<String, f64>| row.figure(|case| cycles.get(case).copied());
            let [model, low, high] = figures
                .ends(figure)
                .ok_or_else(|| format!("the row `{}` needs a case that was not run", row.name))?;
            let error = row.error(model);
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
                confidence: if leans_on_guesses { "guess" } else { "published" },
                role: row.role,
                source: row.source.clone(),
                is_met: row.group.tolerance().map(|most| error.abs() <= most),
            })
        };
        let rows = rows.iter().map(line).collect::<Result<_, String>>()?;
        Ok(Self { schema: SCHEMA, machine: machine.to_owned(), config_hash, rows, curves: None })
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

    /// A table, and what of each group was met.
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
            let verdict = match row.is_met {
                Some(false) => "missed",
                Some(true) | None => "",
            };
            let role = match row.role {
                Role::Fitted => "fitted",
                Role::Predicted => "predicted",
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
                verdict.to_owned(),
                role.to_owned(),
            ]);
        }
        for index in 2..6 {
            if let Some(column) = table.column_mut(index) {
                column.set_cell_alignment(CellAlignment::Right);
            }
        }
        let lines: Vec<String> = table.lines().map(|line| line.trim().to_owned()).collect();
        let mut text = format!(
            "machine {}, in cycles but where another unit is named\n\n{}\n\n{}\n",
            self.machine,
            lines.join("\n"),
            self.summary()
        );
        for curve in self.curves.iter().flatten() {
            text.push_str(&format!("\n{}", curve.text()));
        }
        text
    }

    fn summary(&self) -> String {
        let of = |group: Group| {
            let rows = self.rows.iter().filter(|row| row.group == group);
            let met = rows.clone().filter(|row| row.is_met == Some(true)).count();
            (met, rows.count())
        };
        let ((a_met, a), (b_met, b), (_, c)) = (of(Group::A), of(Group::B), of(Group::C));
        format!(
            "group A, within 10 %: {a_met} of {a}; group B, within 25 %: {b_met} of {b}; group C, direction only: {c}"
        )
    }

    /// The names of the rows that miss their group's tolerance.
    #[must_use]
    pub fn missed(&self) -> Vec<&str> {
        let missed = self.rows.iter().filter(|row| row.is_met == Some(false));
        missed.map(|row| row.name.as_str()).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::Comparison;
    use crate::calibration::measure::Figures;
    use crate::calibration::rows::{Group, Role, Row};

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
            group,
            role: Role::Fitted,
            source: "somebody".to_owned(),
        }
    }

    fn figures(value: f64, low: f64, high: f64) -> Figures {
        let one = |cycles: f64| [("case".to_owned(), cycles)].into();
        Figures { value: one(value), low: one(low), high: one(high) }
    }

    #[test]
    fn what_misses_its_group_is_named() {
        let rows =
            [row("near", Group::A, 10.0), row("far", Group::B, 20.0), row("any", Group::C, 90.0)];
        let comparison =
            Comparison::new("power9", String::new(), &rows, &figures(10.5, 10.5, 10.5)).unwrap();
        assert_eq!(comparison.missed(), ["far"]);
        let text = comparison.text();
        assert!(
            text.contains("group A, within 10 %: 1 of 1; group B, within 25 %: 0 of 1"),
            "{text}"
        );
        let json: serde_json::Value = serde_json::from_str(&comparison.json()).unwrap();
        assert_eq!(json["schema"], 1);
        assert_eq!(json["rows"][0]["role"], "fitted");
        assert_eq!(json["rows"][0]["confidence"], "published");
    }

    #[test]
    fn what_moves_with_the_guesses_is_an_interval() {
        let rows = [row("guessed", Group::C, 10.0)];
        let comparison =
            Comparison::new("power9", String::new(), &rows, &figures(10.0, 12.0, 7.0)).unwrap();
        assert!(comparison.text().contains("7.00 to 12.00"));
        assert!(comparison.json().contains("\"confidence\":\"guess\""));
    }

    #[test]
    fn a_case_that_was_not_run_is_named() {
        let none = Figures::default();
        let error = Comparison::new("power9", String::new(), &[row("lost", Group::A, 1.0)], &none);
        assert!(error.unwrap_err().contains("lost"));
    }
}
