//! Figures by something that grows: footprint, pages, siblings.

use comfy_table::{CellAlignment, ContentArrangement, Table, presets};
use serde::Serialize;

use super::measure::Figures;
use super::rows;

/// A curve with the model's figures, in cycles.
#[derive(Serialize, Clone, PartialEq, Debug)]
pub struct Curve {
    name: String,
    by: String,
    series: Vec<Series>,
}

/// One figure of a curve.
#[derive(Serialize, Clone, PartialEq, Debug)]
struct Series {
    name: String,
    points: Vec<Point>,
}

#[derive(Serialize, Clone, Copy, PartialEq, Debug)]
struct Point {
    at: u64,
    cycles: f64,
    /// The same with every guess at an end, the lower of both.
    low: f64,
    /// The higher of both.
    high: f64,
}

impl Curve {
    /// The model's figures of `curve`.
    ///
    /// # Errors
    /// Names a case that was not run.
    pub fn new(curve: &rows::Curve, figures: &Figures) -> Result<Self, String> {
        let point = |series: &rows::Series, at: u64| {
            let case = series.case(at);
            let [cycles, low, high] = figures
                .of(&case)
                .ok_or_else(|| format!("the curve `{}` needs `{case}`, not run", curve.name))?;
            Ok(Point { at, cycles, low, high })
        };
        let series = |series: &rows::Series| {
            let points = curve.points.iter().map(|at| point(series, *at));
            Ok(Series { name: series.name.clone(), points: points.collect::<Result<_, String>>()? })
        };
        Ok(Self {
            name: curve.name.clone(),
            by: curve.by.clone(),
            series: curve.series.iter().map(series).collect::<Result<_, String>>()?,
        })
    }

    /// A line for each point, a column for each figure.
    #[must_use]
    pub fn text(&self) -> String {
        let mut table = Table::new();
        table.load_preset(presets::NOTHING).set_content_arrangement(ContentArrangement::Disabled);
        let names = self.series.iter().map(|series| series.name.clone());
        table.set_header([self.by.clone()].into_iter().chain(names));
        let points = self.series.first().map_or(0, |series| series.points.len());
        for index in 0..points {
            let cells = self.series.iter().map(|series| series.points[index].text());
            let at = self.series[0].points[index].at.to_string();
            table.add_row([at].into_iter().chain(cells));
        }
        for column in table.column_iter_mut() {
            column.set_cell_alignment(CellAlignment::Right);
        }
        let lines: Vec<String> = table.lines().map(|line| line.trim_end().to_owned()).collect();
        format!("{}\n\n{}\n", self.name, lines.join("\n"))
    }
}

impl Point {
    fn text(self) -> String {
        let Self { cycles, low, high, .. } = self;
        if high - low > 0.005 * cycles {
            format!("{cycles:.2} ({low:.2} to {high:.2})")
        } else {
            format!("{cycles:.2}")
        }
    }
}

#[cfg(test)]
mod tests {
    use super::Curve;
    use crate::calibration::measure::Figures;
    use crate::calibration::rows;

    #[test]
    fn points_stand_below_each_other_and_guesses_have_their_ends() {
        let curve: rows::Curve = toml::from_str(
            "name = 'steps'\nby = 'KiB'\npoints = [8, 64]\nseries = [{ name = 'cycles', case = 'step_{}' }]",
        )
        .unwrap();
        let cases =
            |first, second| [("step_8".to_owned(), first), ("step_64".to_owned(), second)].into();
        let mut figures = Figures {
            value: cases(4.0, 15.5),
            low: cases(4.0, 17.0),
            high: cases(4.0, 15.0),
            ..Figures::default()
        };
        let text = Curve::new(&curve, &figures).unwrap().text();
        assert_eq!(
            text,
            "steps\n\n KiB                  cycles\n   8                    4.00\n  \
             64  15.50 (15.00 to 17.00)\n"
        );
        figures.low.clear();
        assert!(Curve::new(&curve, &figures).unwrap_err().contains("`step_8`"));
    }
}
