//! The way from one variant of an experiment to another in steps, one cause each: what each step saves behind
//! those before it, what it saves alone, and what two of them save together, beside what others published of
//! the same steps.
//!
//! [`crate::experiment`] makes the variants that this names, and [`crate::report`] has the result.

use std::collections::BTreeMap;

use comfy_table::{CellAlignment, ContentArrangement, Table, presets};
use serde::{Deserialize, Serialize};

use crate::ledger::{Charge, Ledger};

/// The steps of an experiment.
#[derive(Clone, PartialEq, Debug)]
pub struct Steps {
    /// The variant that they begin with.
    pub from: String,
    /// What others published of it, in cycles.
    pub published: Option<f64>,
    /// Who published it and the steps.
    pub source: String,
    /// In their order.
    pub steps: Vec<Step>,
    /// Pairs that are also made together, and nothing else.
    pub pairs: Vec<Pair>,
    /// Published steps that have no meaning here.
    pub not_ours: Vec<NotOurs>,
}

/// One step.
#[derive(Clone, PartialEq, Debug)]
pub struct Step {
    /// Its name.
    pub name: String,
    /// What is different from it on.
    pub what: String,
    /// What others published of it.
    pub published: Option<Published>,
    /// The variant with all steps up to this one.
    pub through: String,
    /// The variant with this one alone, where it can be alone.
    pub alone: Option<String>,
}

/// What others published of a step, in cycles.
#[derive(Deserialize, Serialize, Clone, Copy, PartialEq, Debug)]
#[serde(deny_unknown_fields)]
pub struct Published {
    /// What it saved.
    pub saved: f64,
    /// What was left behind it.
    pub left: f64,
}

/// Two steps.
#[derive(Clone, PartialEq, Debug)]
pub struct Pair {
    /// Their names.
    pub steps: [String; 2],
    /// The variant with both.
    pub together: String,
}

/// A published step that has no meaning here.
#[derive(Deserialize, Serialize, Clone, PartialEq, Debug)]
#[serde(deny_unknown_fields)]
pub struct NotOurs {
    /// What it was.
    pub what: String,
    /// What it saved in cycles.
    pub saved: f64,
    /// Why it has no meaning here.
    pub why: String,
}

/// What was measured of a variant.
#[derive(Clone, Copy, Debug)]
pub struct Measured<'a> {
    /// Its cycles.
    pub cycles: f64,
    /// What the charges of the ledger are divided by for that.
    pub divisor: u64,
    /// Where they went.
    pub ledger: &'a Ledger,
}

/// What the steps save, in cycles.
#[derive(Serialize, Clone, PartialEq, Debug)]
pub struct Saved {
    /// The variant before the first step, and its cycles.
    from: String,
    before: f64,
    published_before: Option<f64>,
    source: String,
    steps: Vec<SavedByStep>,
    pairs: Vec<SavedByPair>,
    deviation: Deviation,
    not_ours: Vec<NotOurs>,
}

#[derive(Serialize, Clone, PartialEq, Debug)]
struct SavedByStep {
    step: String,
    what: String,
    saved: f64,
    total: f64,
    published_saved: Option<f64>,
    published_total: Option<f64>,
    alone: Option<f64>,
}

#[derive(Serialize, Clone, PartialEq, Debug)]
struct SavedByPair {
    pair: [String; 2],
    alone: [f64; 2],
    sum_alone: f64,
    together: f64,
    /// By how much the causes make it more than the sum, or less: they add up to the difference.
    because: Vec<Because>,
}

#[derive(Serialize, Clone, PartialEq, Debug)]
struct Because {
    cause: String,
    cycles: f64,
    /// Where most of it is.
    function: String,
    instruction: String,
}

/// How far the steps are from the published ones: the sum of what each differs by.
#[derive(Serialize, Clone, Copy, PartialEq, Debug)]
pub struct Deviation {
    /// In cycles.
    sum: f64,
    /// What was published of the same steps.
    published: f64,
    /// The one as a part of the other.
    percent: f64,
    /// Which way it is better.
    better: &'static str,
}

impl Steps {
    /// What they save, if every variant that they name was `measured`.
    #[must_use]
    pub fn saved<'a>(&self, measured: impl Fn(&str) -> Option<Measured<'a>>) -> Option<Saved> {
        let before = measured(&self.from)?;
        let mut total = before.cycles;
        let mut steps = Vec::new();
        for step in &self.steps {
            let through = measured(&step.through)?.cycles;
            let alone = match &step.alone {
                None => None,
                Some(variant) => Some(before.cycles - measured(variant)?.cycles),
            };
            steps.push(SavedByStep {
                step: step.name.clone(),
                what: step.what.clone(),
                saved: total - through,
                total: through,
                published_saved: step.published.map(|published| published.saved),
                published_total: step.published.map(|published| published.left),
                alone,
            });
            total = through;
        }
        let alone = |name: &String| {
            let step = self.steps.iter().find(|step| step.name == *name)?;
            measured(step.alone.as_ref()?)
        };
        let pair = |pair: &Pair| {
            let [one, other] = [alone(&pair.steps[0])?, alone(&pair.steps[1])?];
            let together = measured(&pair.together)?;
            let saved = |variant: Measured<'_>| before.cycles - variant.cycles;
            Some(SavedByPair {
                pair: pair.steps.clone(),
                alone: [saved(one), saved(other)],
                sum_alone: saved(one) + saved(other),
                together: saved(together),
                because: because(before, [one, other], together),
            })
        };
        let pairs = self.pairs.iter().map(pair).collect::<Option<_>>()?;
        let both = steps.iter().filter_map(|step| Some((step.saved, step.published_saved?)));
        Some(Saved {
            from: self.from.clone(),
            before: before.cycles,
            published_before: self.published,
            source: self.source.clone(),
            deviation: Deviation::of(both),
            steps,
            pairs,
            not_ours: self.not_ours.clone(),
        })
    }
}

/// Why two steps together save another number of cycles than the sum: what each charge is more with none or
/// both of them than with one and the other, by cause. The largest, first.
fn because(before: Measured<'_>, alone: [Measured<'_>; 2], together: Measured<'_>) -> Vec<Because> {
    // Saved together, less what each saves alone: alone, alone, less before, less together.
    let [one, other] = alone;
    let signs = [(one, 1.0), (other, 1.0), (before, -1.0), (together, -1.0)];
    let mut causes: BTreeMap<&str, BTreeMap<(&str, &str, u64), f64>> = BTreeMap::new();
    for (variant, sign) in signs {
        for Charge { cause, function, instruction, offset, cycles, .. } in &variant.ledger.charges {
            let places = causes.entry(cause).or_default();
            *places.entry((function, instruction, *offset)).or_default() +=
                sign * *cycles as f64 / variant.divisor as f64;
        }
    }
    let mut list: Vec<Because> = Vec::new();
    for (cause, places) in causes {
        let cycles: f64 = places.values().sum();
        let most = places.iter().max_by(|one, other| one.1.abs().total_cmp(&other.1.abs()));
        if let (Some(((function, instruction, _), _)), true) = (most, cycles.abs() >= 0.5) {
            list.push(Because {
                cause: cause.to_owned(),
                cycles,
                function: (*function).to_owned(),
                instruction: (*instruction).to_owned(),
            });
        }
    }
    list.sort_by(|one, other| other.cycles.abs().total_cmp(&one.cycles.abs()));
    list
}

impl Deviation {
    /// Of steps with what they save, and what was published of them.
    fn of(steps: impl Iterator<Item = (f64, f64)>) -> Self {
        let (mut sum, mut published) = (0.0, 0.0);
        for (saved, expected) in steps {
            sum += f64::abs(saved - expected);
            published += expected;
        }
        let percent = if published == 0.0 { 0.0 } else { 100.0 * sum / published };
        Self { sum, published, percent, better: "lower" }
    }
}

impl Saved {
    /// Tables of the steps, of the pairs, and what is not in them.
    #[must_use]
    pub fn text(&self) -> String {
        let number = |value: f64| format!("{value:.1}");
        let some = |value: Option<f64>| value.map_or_else(|| "-".to_owned(), number);
        let mut steps = table(["step", "saved", "left", "published", "left", "alone", "what"]);
        let before = [number(self.before), some(self.published_before)];
        let [ours, theirs] = before;
        let none = String::new;
        steps.add_row([self.from.clone(), none(), ours, none(), theirs, none(), none()]);
        for step in &self.steps {
            steps.add_row([
                step.step.clone(),
                number(step.saved),
                number(step.total),
                some(step.published_saved),
                some(step.published_total),
                some(step.alone),
                step.what.clone(),
            ]);
        }
        let Deviation { sum, published, percent, .. } = self.deviation;
        let mut text = format!(
            "\nsteps, in cycles; published: {}\n\n{}\n\nthe steps that both have differ by {sum:.1} in all, of {published:.0} published: {percent:.1} %\n",
            self.source,
            lines(&steps),
        );
        if !self.pairs.is_empty() {
            let mut pairs =
                table(["pair", "alone", "alone", "sum", "together", "more", "because of"]);
            for pair in &self.pairs {
                let [one, other] = pair.alone.map(number);
                let because = pair.because.iter().take(2).map(|because| {
                    let Because { cause, cycles, instruction, .. } = because;
                    format!("{cause} {cycles:+.1} ({instruction})")
                });
                pairs.add_row([
                    pair.pair.join(" and "),
                    one,
                    other,
                    number(pair.sum_alone),
                    number(pair.together),
                    format!("{:+.1}", pair.together - pair.sum_alone),
                    because.collect::<Vec<_>>().join(", "),
                ]);
            }
            text.push_str(&format!(
                "\npairs: what both save, and what they save together\n\n{}\n",
                lines(&pairs)
            ));
        }
        if !self.not_ours.is_empty() {
            text.push_str("\npublished steps that have no meaning here\n");
            for NotOurs { what, saved, why } in &self.not_ours {
                text.push_str(&format!("{saved:>8}  {what}: {why}\n"));
            }
        }
        text
    }
}

fn table<const COLUMNS: usize>(header: [&str; COLUMNS]) -> Table {
    let mut table = Table::new();
    table.load_preset(presets::NOTHING).set_content_arrangement(ContentArrangement::Disabled);
    table.set_header(header);
    for column in table.column_iter_mut().skip(1).take(COLUMNS - 2) {
        column.set_cell_alignment(CellAlignment::Right);
    }
    table
}

fn lines(table: &Table) -> String {
    let lines: Vec<String> = table.lines().map(|line| line.trim().to_owned()).collect();
    lines.join("\n")
}

#[cfg(test)]
mod tests {
    use super::{Measured, NotOurs, Pair, Published, Step, Steps};
    use crate::ledger::Ledger;
    use crate::ledger::examples::ledger;

    fn step(name: &str, published: Option<Published>) -> Step {
        Step {
            name: name.to_owned(),
            what: format!("no {name}"),
            published,
            through: format!("through-{name}"),
            alone: Some(format!("alone-{name}")),
        }
    }

    fn steps() -> Steps {
        Steps {
            from: "all".to_owned(),
            published: Some(1000.0),
            source: "somebody".to_owned(),
            steps: vec![
                step("a", Some(Published { saved: 100.0, left: 900.0 })),
                step("b", Some(Published { saved: 60.0, left: 840.0 })),
                Step { alone: None, ..step("c", None) },
            ],
            pairs: vec![Pair {
                steps: ["a".to_owned(), "b".to_owned()],
                together: "through-b".to_owned(),
            }],
            not_ours: vec![NotOurs {
                what: "d".to_owned(),
                saved: 7.0,
                why: "it is theirs".to_owned(),
            }],
        }
    }

    /// Of ten events each: a wait behind a write, and the work.
    fn measured(wait: u64, work: u64) -> Ledger {
        ledger(&[
            ("hypervisor", "save", 4, "spr.scoreboard", false, 10 * wait),
            ("hypervisor", "save", 8, "dispatch.width", false, 10 * work),
        ])
    }

    fn variants() -> Vec<(&'static str, Ledger)> {
        vec![
            ("all", measured(300, 700)),
            // Two of 100 and 50 are worth 250 together, as one wait goes only with both.
            ("through-a", measured(300, 600)),
            ("alone-a", measured(300, 600)),
            ("alone-b", measured(300, 650)),
            ("through-b", measured(200, 550)),
            ("through-c", measured(0, 550)),
        ]
    }

    fn saved(steps: &Steps, variants: &[(&str, Ledger)]) -> Option<serde_json::Value> {
        let saved = steps.saved(|name| {
            let (_, ledger) = variants.iter().find(|(variant, _)| *variant == name)?;
            let cycles = ledger.elapsed_thread_cycles as f64 / 10.0;
            Some(Measured { cycles, divisor: 10, ledger })
        })?;
        assert!(saved.text().contains("a and b"), "{}", saved.text());
        Some(serde_json::to_value(saved).unwrap())
    }

    #[test]
    fn a_step_saves_what_is_less_than_behind_the_step_before() {
        let saved = saved(&steps(), &variants()).unwrap();
        assert_eq!(saved["before"], 1000.0);
        let of = |step: usize, key: &str| saved["steps"][step][key].clone();
        for (step, expect) in [[100.0, 900.0, 100.0], [150.0, 750.0, 50.0]].iter().enumerate() {
            let [by, left, alone] = *expect;
            assert_eq!(of(step, "saved"), by);
            assert_eq!(of(step, "total"), left);
            assert_eq!(of(step, "alone"), alone);
        }
        assert_eq!((of(2, "saved"), of(2, "alone")), (200.0.into(), serde_json::Value::Null));
        assert_eq!(of(1, "published_saved"), 60.0);
        assert_eq!(of(1, "published_total"), 840.0);
        assert_eq!(of(2, "published_saved"), serde_json::Value::Null);
    }

    #[test]
    fn the_deviation_is_the_sum_of_what_each_step_with_a_published_figure_differs_by() {
        let saved = saved(&steps(), &variants()).unwrap();
        // 0 of 100 and 90 of 60.
        assert_eq!(saved["deviation"]["sum"], 90.0);
        assert_eq!(saved["deviation"]["published"], 160.0);
        assert_eq!(saved["deviation"]["percent"], 56.25);
    }

    #[test]
    fn a_pair_that_is_worth_more_together_says_which_cause_that_is() {
        let saved = saved(&steps(), &variants()).unwrap();
        let pair = &saved["pairs"][0];
        assert_eq!((&pair["sum_alone"], &pair["together"]), (&150.0.into(), &250.0.into()));
        let because = pair["because"].as_array().unwrap();
        assert_eq!(because.len(), 1);
        assert_eq!(because[0]["cause"], "spr.scoreboard");
        assert_eq!(because[0]["cycles"], 100.0);
        assert_eq!(because[0]["function"], "save");
    }

    #[test]
    fn without_a_figure_of_every_variant_there_is_no_result() {
        for missing in 0..variants().len() {
            let mut variants = variants();
            variants.remove(missing);
            assert_eq!(saved(&steps(), &variants), None, "{missing}");
        }
    }
}
