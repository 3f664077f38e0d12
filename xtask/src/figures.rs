//! Measured figures, the file that has them, and the places in a text that ask for one.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use anyhow::{Context, Result, bail};
use serde_json::{Map, Value, json};

use crate::workspace::{Workspace, output};

/// The file, from the root.
pub(crate) const PATH: &str = "docs/figures.json";
/// A place that asks when the figures were measured.
const MEASURED: &str = "measured";

/// A figure, and its bounds where guesses have a part in it.
#[derive(Clone, Copy, PartialEq, Debug)]
struct Figure {
    value: f64,
    bounds: Option<[f64; 2]>,
}

/// All figures that claims ask for.
#[derive(Clone, PartialEq, Debug, Default)]
pub(crate) struct Figures {
    /// By experiment: when it was measured, and with which compiler.
    measured: BTreeMap<String, String>,
    /// By experiment, metric and variant.
    figures: BTreeMap<String, Figure>,
}

impl Figures {
    /// Those of the file.
    pub(crate) fn read(root: &Path) -> Result<Self> {
        let text =
            fs::read_to_string(root.join(PATH)).with_context(|| format!("reading {PATH}"))?;
        let file: Value = serde_json::from_str(&text).with_context(|| format!("reading {PATH}"))?;
        let empty = Map::new();
        let rows = |name: &str| file[name].as_object().unwrap_or(&empty).iter();
        let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
        let measured = rows("measured").map(|(name, when)| (name.clone(), text(when))).collect();
        let figures =
            rows("figures").map(|(key, figure)| (key.clone(), Figure::of(figure))).collect();
        Ok(Self { measured, figures })
    }

    /// By experiment: when it was measured, and with which compiler.
    pub(crate) const fn measured(&self) -> &BTreeMap<String, String> {
        &self.measured
    }

    /// Writes the file.
    pub(crate) fn write(&self, root: &Path) -> Result<()> {
        let figures: Map<String, Value> =
            self.figures.iter().map(|(key, figure)| (key.clone(), figure.json())).collect();
        let file = json!({ "measured": self.measured, "figures": figures });
        let text = format!("{}\n", serde_json::to_string_pretty(&file)?);
        fs::write(root.join(PATH), text).with_context(|| format!("writing {PATH}"))
    }

    /// What `other` has that these have not, or otherwise, when it was measured apart.
    pub(crate) fn differences(&self, other: &Self) -> Vec<String> {
        let keys = self
            .figures
            .keys()
            .chain(other.figures.keys().filter(|key| !self.figures.contains_key(*key)));
        let shown = |figure: Option<&Figure>| figure.map_or("nothing".to_owned(), Figure::shown);
        keys.filter(|key| self.figures.get(*key) != other.figures.get(*key))
            .map(|key| {
                let [before, now] = [self, other].map(|all| shown(all.figures.get(key)));
                format!("{key}: {before}, is now {now}")
            })
            .collect()
    }

    /// `text` with figures in the places that ask for them.
    pub(crate) fn fill(&self, text: &str) -> Result<String> {
        text.split_inclusive('\n').map(|line| self.fill_line(line)).collect()
    }

    /// The same of a line: when it was measured is when the oldest of its figures was.
    fn fill_line(&self, line: &str) -> Result<String> {
        let mut filled = String::new();
        let mut rest = line;
        let mut measured: Option<&String> = None;
        while let Some((before, behind)) = rest.split_once('{') {
            let (asked, behind) = behind.split_once('}').context("a `{` that nothing ends")?;
            filled.push_str(before);
            if asked == MEASURED {
                filled.push_str(measured.context("{measured}: no figure stands before it")?);
            } else {
                filled.push_str(&self.answer(asked).with_context(|| format!("{{{asked}}}"))?);
                let experiment = asked.split(' ').next().unwrap_or_default();
                let when = self.measured.get(experiment);
                let when = when.with_context(|| format!("when was `{experiment}` measured?"))?;
                measured = Some(measured.map_or(when, |before| before.min(when)));
            }
            rest = behind;
        }
        filled.push_str(rest);
        Ok(filled)
    }

    fn answer(&self, asked: &str) -> Result<String> {
        let Place { key, shown } = Place::of(asked)?;
        let figure = |key: &str| {
            self.figures
                .get(key)
                .with_context(|| format!("no `{key}` was measured; run `cargo xtask claims`"))
        };
        let found = figure(&key)?;
        Ok(match shown {
            Shown::Rounded => found.shown(),
            Shown::Exact => exact(found.value),
            Shown::Minus(other) => rounded(found.value - figure(&other)?.value),
            Shown::Over(times, other) => {
                format!("{:.2}", found.value / (f64::from(times) * figure(&other)?.value))
            }
        })
    }
}

impl Figure {
    fn of(row: &Value) -> Self {
        let [low, high] = ["low", "high"].map(|key| row[key].as_f64());
        Self {
            value: row["value"].as_f64().unwrap_or(f64::NAN),
            bounds: low.zip(high).map(|(low, high)| [low, high]),
        }
    }

    fn json(&self) -> Value {
        match self.bounds {
            Some([low, high]) => json!({ "value": self.value, "low": low, "high": high }),
            None => json!({ "value": self.value }),
        }
    }

    fn shown(&self) -> String {
        let value = rounded(self.value);
        match self.bounds {
            Some([low, high]) => format!("{value} ({} to {})", rounded(low), rounded(high)),
            None => value,
        }
    }
}

/// A place that asks for a figure.
struct Place {
    key: String,
    shown: Shown,
}

/// How the figure is shown.
enum Shown {
    /// With its interval.
    Rounded,
    Exact,
    /// What it is more than another one.
    Minus(String),
    /// Divided by so many times another one.
    Over(u32, String),
}

impl Shown {
    /// The other figure that it needs.
    fn other(self) -> Option<String> {
        match self {
            Self::Rounded | Self::Exact => None,
            Self::Minus(other) | Self::Over(_, other) => Some(other),
        }
    }
}

impl Place {
    fn of(asked: &str) -> Result<Self> {
        let words: Vec<&str> = asked.split_whitespace().collect();
        let (experiment, metric, variant, rest) = match words.as_slice() {
            [experiment, metric, variant, rest @ ..] => (experiment, metric, variant, rest),
            _ => bail!("write an experiment, a metric and a variant"),
        };
        let key = |variant: &str| format!("{experiment} {metric} {variant}");
        let shown = match rest {
            [] => Shown::Rounded,
            ["exact"] => Shown::Exact,
            ["minus", other] => Shown::Minus(key(other)),
            ["over", times, other] => {
                let times = times.parse().ok().filter(|times| *times > 0);
                Shown::Over(times.context("behind `over` stands how many times")?, key(other))
            }
            _ => bail!(
                "behind the variant stands nothing, `exact`, `minus` and another variant, or `over`, a number and another \
                 variant"
            ),
        };
        Ok(Self { key: key(variant), shown })
    }
}

/// Runs the experiments that `texts` ask for, and keeps the figures that they ask for. If `only` names experiments, the
/// figures of all others are those of `before`, and so are their days. The same holds for those of an experiment that
/// fails; the second answer says how each failed.
pub(crate) fn measure(
    workspace: &Workspace,
    texts: &[String],
    measured: &str,
    before: &Figures,
    only: &[String],
) -> Result<(Figures, Vec<String>)> {
    let mut keys = Vec::new();
    for text in texts {
        let asked = text.split('{').skip(1).filter_map(|behind| Some(behind.split_once('}')?.0));
        for asked in asked.filter(|asked| *asked != MEASURED) {
            let Place { key, shown } = Place::of(asked).with_context(|| format!("{{{asked}}}"))?;
            keys.push(key);
            keys.extend(shown.other());
        }
    }
    keys.sort();
    keys.dedup();
    let is_of = |key: &str, experiment: &str| key.split(' ').next() == Some(experiment);
    if let Some(name) = only.iter().find(|name| !keys.iter().any(|key| is_of(key, name))) {
        bail!("no claim has a figure of the experiment `{name}`");
    }
    let wants = |key: &str| only.is_empty() || only.iter().any(|name| is_of(key, name));
    if let Some(key) = keys.iter().find(|key| !wants(key) && !before.figures.contains_key(*key)) {
        bail!("`{key}` was never measured: name its experiment, too");
    }
    let mut reports: BTreeMap<String, Value> = BTreeMap::new();
    let (mut figures, mut failed) = (BTreeMap::new(), BTreeMap::new());
    let mut days = BTreeMap::new();
    for key in keys {
        let mut words = key.split(' ');
        let (experiment, metric, variant) = (
            words.next().unwrap_or_default(),
            words.next().unwrap_or_default(),
            words.next().unwrap_or_default(),
        );
        if wants(&key) && !reports.contains_key(experiment) && !failed.contains_key(experiment) {
            println!("claims: {experiment}");
            let file = format!("experiments/{experiment}.toml");
            match output(&mut workspace.powervisor(&["run", &file, "--format", "json"])) {
                Ok(text) => _ = reports.insert(experiment.to_owned(), serde_json::from_str(&text)?),
                Err(error) => _ = failed.insert(experiment.to_owned(), format!("{error:#}")),
            }
        }
        if !reports.contains_key(experiment) {
            let figure = before.figures.get(&key);
            let figure = *figure.with_context(|| format!("`{key}` was never measured"))?;
            let day = before.measured.get(experiment);
            let day = day.with_context(|| format!("when was `{experiment}` measured?"))?;
            days.insert(experiment.to_owned(), day.clone());
            figures.insert(key, figure);
            continue;
        }
        days.insert(experiment.to_owned(), measured.to_owned());
        let rows = reports[experiment]["rows"].as_array().context("a report without rows")?;
        let per = format!("{metric}_per_");
        let is_meant = |row: &&Value| {
            row["variant"] == variant
                && row["metric"]
                    .as_str()
                    .is_some_and(|name| name == metric || name.starts_with(&per))
        };
        let row = rows
            .iter()
            .find(is_meant)
            .with_context(|| format!("{experiment} has no `{metric}` of `{variant}`"))?;
        figures.insert(key, Figure::of(row));
    }
    Ok((Figures { measured: days, figures }, failed.into_values().collect()))
}

/// A whole number, with a comma between thousands from 10,000 on.
fn rounded(value: f64) -> String {
    let digits = format!("{value:.0}");
    if digits.len() < 5 {
        return digits;
    }
    let mut shown = String::new();
    for (place, digit) in digits.chars().enumerate() {
        if place > 0 && (digits.len() - place) % 3 == 0 {
            shown.push(',');
        }
        shown.push(digit);
    }
    shown
}

/// With up to four decimals.
fn exact(value: f64) -> String {
    format!("{value:.4}").trim_end_matches('0').trim_end_matches('.').to_owned()
}

#[cfg(test)]
mod tests {
    use super::{Figure, Figures};

    #[test]
    fn places_are_filled_and_what_was_not_measured_is_an_error() {
        let figure = |value, bounds| Figure { value, bounds };
        let figures = [
            ("e cycles a", figure(257.0029, Some([227.003, 310.4]))),
            ("e cycles b", figure(41_561.0, None)),
            ("e instructions a", figure(63.0008, None)),
            ("f cycles a", figure(5.0, None)),
        ];
        let figures = figures.map(|(key, figure)| (key.to_owned(), figure)).into();
        let measured = [("e", "2026-11-30"), ("f", "2026-11-29")];
        let measured = measured.map(|(name, when)| (name.to_owned(), when.to_owned())).into();
        let all = Figures { measured, figures };
        let filled = |text| all.fill(text).map_err(|error| format!("{error:#}"));
        assert_eq!(filled("| {e cycles a} |"), Ok("| 257 (227 to 310) |".to_owned()));
        assert_eq!(filled("{e cycles b}, {measured}"), Ok("41,561, 2026-11-30".to_owned()));
        let oldest = "{e cycles b} {f cycles a} {e cycles b} {measured}\n{e cycles b} {measured}";
        let expected = "41,561 5 41,561 2026-11-29\n41,561 2026-11-30";
        assert_eq!(filled(oldest), Ok(expected.to_owned()));
        assert_eq!(filled("{e instructions a exact}"), Ok("63.0008".to_owned()));
        assert_eq!(filled("{e cycles b minus a}"), Ok("41,304".to_owned()));
        assert_eq!(filled("{e cycles b over 200 a}"), Ok("0.81".to_owned()));
        for wrong in [
            "{e cycles c}",
            "{e cycles}",
            "{e cycles a b}",
            "{e cycles b over a}",
            "{e cycles b over 0 a}",
            "{e",
            "{measured}",
        ] {
            assert!(filled(wrong).is_err(), "{wrong}");
        }
    }
}
