//! The key `steps` of an experiment file: the variants that it stands for.

use std::ops::Range;

use serde::Deserialize;
use toml::Spanned;

use super::VariantTable;
use crate::failure::Failure;
use crate::partition_file::{FeaturesTable, PolicyTable};
use crate::steps::{NotOurs, Pair, Published, Step, Steps};
use crate::toml_file::{TomlFile, suggest};

/// What the steps begin with.
const EAGER: &str = "eager";

/// Steps from a variant whose registers are moved eagerly to one that leaves things out, and on to other policies.
#[derive(Deserialize, Debug)]
#[serde(deny_unknown_fields)]
pub(super) struct StepsTable {
    /// The name of the first variant, which leaves out nothing.
    from: Spanned<String>,
    /// Of every variant.
    arguments: String,
    expect: String,
    /// What others published of the first variant, in cycles.
    published: Option<f64>,
    source: String,
    step: Vec<StepTable>,
    #[serde(default)]
    pairs: Vec<[Spanned<String>; 2]>,
    #[serde(default)]
    not_ours: Vec<NotOurs>,
}

#[derive(Deserialize, Debug)]
#[serde(deny_unknown_fields)]
struct StepTable {
    name: Spanned<String>,
    what: String,
    /// What is left out from this step on.
    without: Option<Spanned<String>>,
    /// The policy from this step on, in which nothing is left out.
    registers: Option<Spanned<String>>,
    published: Option<Published>,
}

impl StepsTable {
    /// The steps, and the variants that they name.
    pub(super) fn expand(
        self,
        file: &TomlFile,
    ) -> Result<(Steps, Vec<Spanned<VariantTable>>), Failure> {
        if self.step.is_empty() {
            let text = "there is no step; add a [[steps.step]] table";
            return Err(file.complain(self.from.span(), text));
        }
        let variant = |name: String, span: Range<usize>, policy: PolicyTable| {
            let table = VariantTable {
                divisor: None,
                loss_against: None,
                name: Spanned::new(span.clone(), name),
                kernel: None,
                arguments: self.arguments.clone(),
                set: Vec::new(),
                vcpus: None,
                translation: None,
                superpages: None,
                slice_us: None,
                dma_window: None,
                disk: None,
                adapters: None,
                features: FeaturesTable::default(),
                warm_up: None,
                region: None,
                expect: self.expect.clone(),
                policy,
                like: None,
                partner: Vec::new(),
            };
            Spanned::new(span, table)
        };
        let from = self.from.get_ref();
        if from != EAGER {
            let text = format!("the steps cannot begin with `{from}`; they begin with `{EAGER}`");
            return Err(file.complain(self.from.span(), text));
        }
        let mut variants =
            vec![variant(from.clone(), self.from.span(), PolicyTable::eager(Vec::new()))];
        let (mut steps, mut without): (Vec<Step>, Vec<Spanned<String>>) = (Vec::new(), Vec::new());
        let mut alone = Vec::new();
        for table in &self.step {
            let (name, span) = (table.name.get_ref(), table.name.span());
            let is_number = |it: &Published| it.saved.is_finite() && it.left.is_finite();
            if !table.published.as_ref().is_none_or(is_number) {
                let text = format!("what is published of the step `{name}` must be numbers");
                return Err(file.complain(span, text));
            }
            let through = format!("through-{name}");
            let mut step = Step {
                name: name.clone(),
                what: table.what.clone(),
                published: table.published,
                through: through.clone(),
                alone: None,
            };
            match (&table.without, &table.registers) {
                (Some(excess), None)
                    if without.iter().any(|other| other.get_ref() == excess.get_ref()) =>
                {
                    let text = format!(
                        "`{}` is left out already; leave out something else",
                        excess.get_ref()
                    );
                    return Err(file.complain(excess.span(), text));
                }
                (None, Some(registers)) if registers.get_ref() == EAGER => {
                    let text = format!("the steps lead away from `{EAGER}`; name another policy");
                    return Err(file.complain(registers.span(), text));
                }
                (Some(excess), None) => {
                    without.push(excess.clone());
                    let all = PolicyTable::eager(without.clone());
                    variants.push(variant(through.clone(), span.clone(), all));
                    if steps.is_empty() {
                        step.alone = Some(through);
                    } else {
                        let name = format!("alone-{name}");
                        step.alone = Some(name.clone());
                        let only = PolicyTable::eager(vec![excess.clone()]);
                        alone.push(variant(name, span, only));
                    }
                }
                (None, Some(registers)) => {
                    variants.push(variant(through, span, PolicyTable::of(registers.clone())));
                }
                (given, _) => {
                    let text = match given {
                        Some(_) => format!(
                            "the step `{name}` has both `without` and `registers`; leave out one"
                        ),
                        None => format!(
                            "the step `{name}` changes nothing; give it `without` or `registers`"
                        ),
                    };
                    return Err(file.complain(span, text));
                }
            }
            steps.push(step);
        }
        variants.append(&mut alone);
        let mut pairs = Vec::new();
        for pair in &self.pairs {
            let mut excesses = Vec::new();
            for name in pair {
                let known = self.step.iter().filter(|step| step.without.is_some());
                let found = known.clone().find(|step| step.name.get_ref() == name.get_ref());
                let excess = found.and_then(|step| step.without.clone()).ok_or_else(|| {
                    let known: Vec<&str> = known.map(|step| step.name.get_ref().as_str()).collect();
                    let hint = suggest(name.get_ref(), known);
                    let text =
                        format!("no step that can be alone is called `{}`; {hint}", name.get_ref());
                    file.complain(name.span(), text)
                })?;
                excesses.push(excess);
            }
            let [one, other] = pair.each_ref().map(|name| name.get_ref().clone());
            if one == other {
                let text = format!("a pair of `{one}` with itself; name two steps");
                return Err(file.complain(pair[1].span(), text));
            }
            let together = format!("{one}+{other}");
            let both = PolicyTable::eager(excesses);
            variants.push(variant(together.clone(), pair[0].span(), both));
            pairs.push(Pair { steps: [one, other], together });
        }
        let steps = Steps {
            from: from.clone(),
            published: self.published,
            source: self.source,
            steps,
            pairs,
            not_ours: self.not_ours,
        };
        Ok((steps, variants))
    }
}
