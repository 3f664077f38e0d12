//! The model's figures beside the published ones, as a table for people.

use std::fmt::Write as _;

use comfy_table::{CellAlignment, ContentArrangement, Table, presets};

use super::{Comparison, Line};
use crate::calibration::rows::{Remark, Role};

impl Comparison {
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
                error(row),
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
}

/// A row's error in percent; with more decimals where it is beyond the tolerance by less than one shows.
fn error(row: &Line) -> String {
    let percent = row.error * 100.0;
    let limits = row.group.tolerance();
    let is_beside = |limit: f64| (percent - limit * 100.0).abs() < 0.05;
    let is_close = !row.is_met && [*limits.start(), *limits.end()].into_iter().any(is_beside);
    if is_close { format!("{percent:+.3} %") } else { format!("{percent:+.1} %") }
}
