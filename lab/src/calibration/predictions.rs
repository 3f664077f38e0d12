//! The rows that were predicted when they were listed: `calibration/predicted.toml`.

use serde::{Deserialize, Serialize};

/// Which rows count as predictions, whatever becomes of them.
#[derive(Serialize, Deserialize, Clone, PartialEq, Eq, Debug, Default)]
#[serde(deny_unknown_fields)]
pub struct Predictions {
    /// Names of the rows that the list began with.
    pub first: Vec<String>,
    /// Names of those that came later.
    pub added: Vec<String>,
    /// What the facts publish and no case measures yet.
    #[serde(default)]
    pub open: Vec<Remark>,
    /// Rows of the list that were none.
    #[serde(default)]
    pub withdrawn: Vec<Remark>,
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

impl Predictions {
    /// The list that comes with the command.
    ///
    /// # Panics
    /// If the file, which is part of the command, is wrong; a test sees to that.
    #[must_use]
    pub fn power9() -> Self {
        toml::from_str(include_str!("../../../calibration/predicted.toml"))
            .expect("calibration/predicted.toml is right")
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
    use super::Predictions;
    use crate::calibration::rows::{Role, power9};

    #[test]
    fn every_prediction_is_listed_and_every_listed_row_is_there() {
        let list = Predictions::power9();
        let rows = power9().rows;
        for row in &rows {
            assert!(row.role == Role::Fitted || list.has(&row.name), "{} is not listed", row.name);
        }
        for name in list.first.iter().chain(&list.added) {
            let count = list.first.iter().chain(&list.added).filter(|other| *other == name).count();
            assert_eq!(count, 1, "{name} is listed {count} times");
            let is_row = rows.iter().any(|row| row.name == *name);
            assert!(
                is_row != list.is_withdrawn(name),
                "{name} is neither row nor withdrawn, or both"
            );
        }
        for remark in list.open.iter().chain(&list.withdrawn) {
            assert!(!remark.why.is_empty(), "{} has no reason", remark.name);
        }
    }
}
