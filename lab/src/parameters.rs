//! The values of a machine's description as a list, for programs.

use serde::Serialize;
use simulator::description::timing::TimingFile;
use toml::{Table, Value};

use crate::failure::Failure;
use crate::machine_file::MachineFile;
use crate::report::SCHEMA;

/// A machine's values. The form is part of the JSON's promise.
#[derive(Serialize, Clone, PartialEq, Debug)]
pub struct Parameters {
    schema: u32,
    machine: String,
    config_hash: String,
    /// Of its timing model; empty if it has none.
    parameters_lock: String,
    parameters: Vec<Parameter>,
}

/// One value.
#[derive(Serialize, Clone, PartialEq, Debug)]
struct Parameter {
    /// Its place in the description: what `--set` takes.
    key: String,
    value: f64,
    low: Option<f64>,
    high: Option<f64>,
    unit: String,
    confidence: String,
    source: String,
}

impl Parameters {
    /// Those of this machine.
    ///
    /// # Errors
    /// [`Failure`] if its description is wrong.
    pub fn of(machine: &MachineFile) -> Result<Self, Failure> {
        let description = machine.describe()?;
        let mut parameters = Vec::new();
        // The description is TOML, or it could not be read.
        collect(&machine.text().parse().unwrap_or_default(), "", &mut parameters);
        Ok(Self {
            schema: SCHEMA,
            machine: description.name().to_owned(),
            config_hash: description.config_hash(),
            parameters_lock: description
                .timing()
                .map_or_else(|_| String::new(), TimingFile::checksum),
            parameters,
        })
    }

    /// One line of JSON.
    #[must_use]
    pub fn json(&self) -> String {
        format!("{}\n", serde_json::to_string(self).expect("it has only string keys"))
    }
}

/// Adds the quantities below `table`, which lies at `prefix`.
fn collect(table: &Table, prefix: &str, parameters: &mut Vec<Parameter>) {
    for (key, value) in table {
        let Some(inner) = value.as_table() else { continue };
        let number = |key: &str| inner.get(key).and_then(number);
        let text =
            |key: &str| inner.get(key).and_then(Value::as_str).unwrap_or_default().to_owned();
        match number("value") {
            None => collect(inner, &format!("{prefix}{key}."), parameters),
            Some(value) => parameters.push(Parameter {
                key: format!("{prefix}{key}"),
                value,
                low: number("low"),
                high: number("high"),
                unit: text("unit"),
                confidence: text("confidence"),
                source: text("source"),
            }),
        }
    }
}

fn number(value: &Value) -> Option<f64> {
    value.as_float().or_else(|| value.as_integer().map(|integer| integer as f64))
}
