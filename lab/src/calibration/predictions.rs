//! The rows that were predicted when they were listed: `listed` in `calibration/power9/`, joined in
//! `calibration/predicted.toml`, which `cargo xtask join` lets only grow. Each processor has its own folder and list.

use super::rows::{Listed, Published, Remark, Withdrawn};

/// Which rows count as predictions, whatever becomes of them.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Predictions {
    /// Names of the rows that the list began with.
    pub first: Vec<String>,
    /// Names of those that came later.
    pub added: Vec<String>,
    /// What the facts publish and no case measures yet.
    pub open: Vec<Remark>,
    /// Rows of the list that were none.
    pub withdrawn: Vec<Remark>,
}

impl Predictions {
    /// Those of what is published.
    #[must_use]
    pub fn of(published: &Published) -> Self {
        let rows = published.rows.iter().filter_map(|row| Some((row.listed?, &row.name)));
        let withdrawn = published.withdrawn.iter().map(|row| (row.listed, &row.name));
        let listed: Vec<_> = rows.chain(withdrawn).collect();
        let since = |when| {
            let names = listed.iter().filter(move |(listed, _)| *listed == when);
            names.map(|(_, name)| (*name).clone()).collect()
        };
        let remark = |Withdrawn { name, why, .. }: &Withdrawn| Remark {
            name: name.clone(),
            why: why.clone(),
        };
        Self {
            first: since(Listed::First),
            added: since(Listed::Added),
            open: published.open.clone(),
            withdrawn: published.withdrawn.iter().map(remark).collect(),
        }
    }

    /// Whether the row of this name is one of the list.
    #[must_use]
    pub fn has(&self, name: &str) -> bool {
        self.first.iter().chain(&self.added).any(|listed| listed == name)
    }

    /// Whether a listed row was taken out of the count.
    #[must_use]
    pub fn is_withdrawn(&self, name: &str) -> bool {
        self.withdrawn.iter().any(|row| row.name == name)
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::Predictions;
    use crate::calibration::rows::{Role, of};
    use arch::processor::Processor;

    /// The joined file, which grows alone, as the command has it.
    #[derive(serde::Deserialize)]
    struct Joined {
        first: BTreeSet<String>,
        added: BTreeSet<String>,
    }

    #[test]
    fn every_prediction_is_listed_and_every_listed_row_is_there() {
        let joined = [
            (Processor::Power8, include_str!("../../../calibration/predicted-power8.toml")),
            (Processor::Power9, include_str!("../../../calibration/predicted.toml")),
        ];
        assert_eq!(joined.map(|(processor, _)| processor), Processor::ALL);
        joined.iter().for_each(|(processor, joined)| check(*processor, joined));
    }

    fn check(processor: Processor, joined: &str) {
        let published = of(processor);
        let list = Predictions::of(&published);
        for row in &published.rows {
            assert!(row.role == Role::Fitted || list.has(&row.name), "{} is not listed", row.name);
            assert!(!list.is_withdrawn(&row.name), "{} is both a row and withdrawn", row.name);
        }
        let joined: Joined = toml::from_str(joined).unwrap();
        assert_eq!(list.first.iter().cloned().collect::<BTreeSet<_>>(), joined.first);
        assert_eq!(list.added.iter().cloned().collect::<BTreeSet<_>>(), joined.added);
        assert_eq!(list.first.len() + list.added.len(), joined.first.len() + joined.added.len());
        for remark in list.open.iter().chain(&list.withdrawn) {
            assert!(!remark.why.is_empty(), "{} has no reason", remark.name);
        }
    }
}
