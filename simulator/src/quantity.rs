//! A value of a description with its unit, source and confidence, and what can be wrong with one.
//!
//! A table of the timing model is declared once, with [`parameters!`]: its file form holds a [`Quantity`] a key, its
//! plain form a number. A guess has bounds; a run takes every value as it is, or every guess at one of its ends
//! ([`Bound`]).

use std::fmt;

use arch::processor::{Processor, Processors};
use serde::{Deserialize, Serialize};

/// How far a value is to be trusted.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Confidence {
    /// Somebody measured or documented it.
    Published,
    /// It follows from published values.
    Derived,
    /// Nobody published it.
    Guess,
}

/// A value with where it comes from.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Parameter {
    /// The value, in `unit`.
    pub value: u64,
    /// Its unit.
    pub unit: String,
    /// How far it is to be trusted.
    pub confidence: Confidence,
    /// Where it comes from.
    pub source: String,
}

/// What is wrong with a description.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
pub struct DescriptionError {
    /// The line of the file, from 1, where it is known.
    pub line: Option<usize>,
    /// What is wrong and what would be right.
    pub message: String,
}

impl fmt::Display for DescriptionError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.line {
            Some(line) => write!(f, "line {line}: {}", self.message),
            None => f.write_str(&self.message),
        }
    }
}

pub(crate) fn error(message: impl Into<String>) -> DescriptionError {
    DescriptionError { line: None, message: message.into() }
}

/// A value of the timing model with where it comes from.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields, expecting = "a table { value, unit, confidence, source }")]
pub struct Quantity {
    /// The value, in `unit`.
    pub value: f64,
    /// The least that it may be; a guess has it.
    #[serde(default)]
    pub low: Option<f64>,
    /// The most that it may be; a guess has it.
    #[serde(default)]
    pub high: Option<f64>,
    /// Its unit.
    pub unit: String,
    /// How far it is to be trusted.
    pub confidence: Confidence,
    /// Where it comes from.
    pub source: String,
}

impl Eq for Quantity {}

/// The most that a value in this unit may be. What a table makes of its values may have a lower limit, which it checks
/// itself.
fn limit(unit: &str) -> f64 {
    match unit {
        // With much more, a run would last more cycles than are counted.
        "cycles" | "ns" => 1e8,
        // What the host has to keep: far beyond any processor, and far below its memory.
        "bytes" => (64_u64 << 20) as f64,
        "entries" => (1_u64 << 20) as f64,
        "operations" | "instructions" | "lines" | "ways" | "bytes/cycle" => 4096.0,
        "streams" | "channels" | "walks" | "groups" => 256.0,
        "arrays" | "cores" => 4.0,
        "ratio" => 16.0,
        "log2 bytes" => 63.0,
        // MB/s.
        _ => 1e9,
    }
}

/// A value as a complaint names it: of one so large that its last digits are not what the file has, only those
/// that are.
fn shown(value: f64) -> String {
    /// From here on not every integer is a value.
    const EXACT: f64 = (1_u64 << f64::MANTISSA_DIGITS) as f64;
    if value.abs() < EXACT { value.to_string() } else { format!("{value:e}") }
}

/// Which end of the guesses a run takes.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
pub enum Bound {
    /// The values themselves.
    #[default]
    Value,
    /// Every guess at its low end.
    Low,
    /// Every guess at its high end.
    High,
}

impl Quantity {
    /// The number that a run takes.
    #[must_use]
    pub fn at(&self, bound: Bound) -> f64 {
        let end = match bound {
            Bound::Value => None,
            Bound::Low => self.low,
            Bound::High => self.high,
        };
        end.unwrap_or(self.value)
    }

    /// Checks the unit, the bounds, and that a guess has bounds.
    ///
    /// # Errors
    /// [`DescriptionError`] that names `key`.
    pub fn check(&self, key: &str, unit: &str) -> Result<(), DescriptionError> {
        let Self { value, low, high, .. } = self;
        if self.unit != unit {
            return Err(error(format!("{key} is in \"{}\"; its unit is \"{unit}\"", self.unit)));
        }
        let (least, most) = (low.unwrap_or(*value), high.unwrap_or(*value));
        let limit = limit(unit);
        let is_outside = |end: &&f64| !(0.0..=limit).contains(*end);
        if let Some(wrong) = [least, *value, most].iter().find(is_outside) {
            // The lower end that a table sets may be above 0.
            let right = if *wrong > limit {
                format!("{limit} at most")
            } else if wrong.is_nan() {
                "a number".to_owned()
            } else {
                "0 at least".to_owned()
            };
            let wrong = shown(*wrong);
            return Err(error(format!("{key} = {wrong} is out of range; it must be {right}")));
        }
        if !(least <= *value && *value <= most) {
            return Err(error(format!(
                "{key}: low {least}, value {value} and high {most} do not ascend; they must"
            )));
        }
        if self.confidence == Confidence::Guess && (low.is_none() || high.is_none()) {
            return Err(error(format!("{key} is a guess; give it low and high")));
        }
        if self.source.is_empty() {
            return Err(error(format!("{key} has no source; say where the value comes from")));
        }
        Ok(())
    }
}

/// Something that not every processor has, and the keys that are about it with it.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Part {
    /// Slices, to which operations are dispatched one by one.
    Slices,
    /// Groups of instructions, which are dispatched and completed as one, and pipes of several kinds behind them.
    Groups,
    /// A table of branches' targets.
    TargetTable,
    /// Arithmetic of quad precision.
    Quad,
    /// Radix trees.
    Radix,
    /// A second data ERAT behind the first.
    SecondErat,
    /// Memory without buffers between.
    DirectMemory,
    /// Buffers in front of memory, each with a cache.
    Buffers,
    /// The instruction `stop`.
    Stop,
    /// `doze`, `nap`, `sleep` and `rvwinkle`.
    Nap,
}

impl Part {
    /// Who has it.
    const fn processors(self) -> Processors {
        match self {
            Self::Groups | Self::SecondErat | Self::Buffers | Self::Nap => Processors::Power8,
            Self::Slices
            | Self::TargetTable
            | Self::Quad
            | Self::Radix
            | Self::DirectMemory
            | Self::Stop => Processors::Power9,
        }
    }

    /// Checks that `key`, which is about it, is given if `processor` has it, and else is not.
    ///
    /// # Errors
    /// [`DescriptionError`] that names the key.
    pub fn check(
        self,
        key: &str,
        is_given: bool,
        processor: Processor,
    ) -> Result<(), DescriptionError> {
        match (is_given, self.processors().includes(processor)) {
            (true, false) => {
                Err(error(format!("{key} is about what {processor} does not have; leave it out")))
            }
            (false, true) => Err(error(format!("{key} is missing; {processor} needs it"))),
            _ => Ok(()),
        }
    }
}

/// What a key of a table holds: a quantity, or one where the processor has the [`Part`] that it is about.
pub trait Key {
    /// The quantity, if there is one.
    fn quantity(&self) -> Option<&Quantity>;
}

impl Key for Quantity {
    fn quantity(&self) -> Option<&Quantity> {
        Some(self)
    }
}

impl Key for Option<Quantity> {
    fn quantity(&self) -> Option<&Quantity> {
        self.as_ref()
    }
}

/// Declares a table of parameters: `struct Name / NameFile in "timing.name" { key: "unit", other: [Part] "unit", }`.
///
/// `Name` has a `u64` a key: the value rounded to the nearest, 0 for a key of a [`Part`] that is not given.
macro_rules! parameters {
    (@type) => { $crate::quantity::Quantity };
    (@type $part:ident) => { Option<$crate::quantity::Quantity> };
    (
        $(#[$doc:meta])*
        pub struct $name:ident / $file:ident in $table:literal {
            $($(#[$field_doc:meta])+ $field:ident: $([$part:ident])? $unit:literal,)+
        }
    ) => {
        $(#[$doc])*
        #[derive(Clone, PartialEq, Eq, Debug, Default, serde::Serialize, serde::Deserialize)]
        pub struct $name { $($(#[$field_doc])+ pub $field: u64,)+ }

        #[doc = concat!("The table `", $table, "` as the file has it.")]
        #[derive(Clone, PartialEq, Eq, Debug, serde::Serialize, serde::Deserialize)]
        #[serde(deny_unknown_fields)]
        pub struct $file {
            $($(#[$field_doc])+ pub $field: $crate::quantity::parameters!(@type $($part)?),)+
        }

        impl $file {
            /// Checks every value, and that those are there which `processor` needs.
            ///
            /// # Errors
            /// [`DescriptionError`](crate::quantity::DescriptionError) that names the key.
            pub fn check(
                &self,
                processor: arch::processor::Processor,
            ) -> Result<(), $crate::quantity::DescriptionError> {
                use $crate::quantity::Key as _;
                let _ = processor;
                $({
                    let key = concat!($table, ".", stringify!($field));
                    let quantity = self.$field.quantity();
                    $($crate::quantity::Part::$part.check(key, quantity.is_some(), processor)?;)?
                    quantity.map_or(Ok(()), |quantity| quantity.check(key, $unit))?;
                })+
                Ok(())
            }

            /// The numbers that a run takes.
            #[must_use]
            pub fn values(&self, bound: $crate::quantity::Bound) -> $name {
                use $crate::quantity::Key as _;
                let number = |quantity: Option<&$crate::quantity::Quantity>| {
                    quantity.map_or(0, |quantity| quantity.at(bound).round() as u64)
                };
                $name { $($field: number(self.$field.quantity()),)+ }
            }
        }
    };
}
pub(crate) use parameters;

#[cfg(test)]
#[allow(unreachable_pub, reason = "the macro declares public tables")]
mod tests {
    use super::{Bound, Confidence, Quantity};
    use arch::processor::Processor;

    parameters! {
        /// An example.
        pub struct Example / ExampleFile in "timing.example" {
            /// A latency.
            latency: "cycles",
            /// Something that POWER8 alone has.
            width: [Groups] "operations",
        }
    }

    fn file(text: &str) -> Result<ExampleFile, String> {
        toml::from_str(text).map_err(|error| error.to_string())
    }

    #[test]
    fn a_guess_is_taken_at_its_ends() {
        let text = r#"latency = { value = 15.5, low = 10, high = 20, unit = "cycles", confidence = "guess", source = "nobody says" }"#;
        let file = file(text).unwrap();
        file.check(Processor::Power9).unwrap();
        let missing = file.check(Processor::Power8).unwrap_err().to_string();
        assert!(missing.contains("timing.example.width is missing; POWER8 needs it"), "{missing}");
        assert_eq!(file.values(Bound::Value).width, 0);
        assert_eq!(file.values(Bound::Value).latency, 16);
        assert_eq!(file.values(Bound::Low).latency, 10);
        assert_eq!(file.values(Bound::High).latency, 20);
    }

    #[test]
    fn a_key_of_what_a_processor_does_not_have_is_refused() {
        let one = r#"{ value = 6, unit = "operations", confidence = "derived", source = "sum" }"#;
        let latency = r#"{ value = 4, unit = "cycles", confidence = "derived", source = "sum" }"#;
        let file = file(&format!("width = {one}\nlatency = {latency}")).unwrap();
        file.check(Processor::Power8).unwrap();
        assert_eq!(file.values(Bound::Value).width, 6);
        let wrong = file.check(Processor::Power9).unwrap_err().to_string();
        assert!(wrong.contains("timing.example.width is about what POWER9"), "{wrong}");
    }

    #[test]
    fn what_is_wrong_is_named() {
        let right = Quantity {
            value: 4.0,
            low: None,
            high: None,
            unit: "cycles".to_owned(),
            confidence: Confidence::Published,
            source: "somebody".to_owned(),
        };
        let wrong = |quantity: Quantity| {
            quantity.check("timing.example.latency", "cycles").unwrap_err().to_string()
        };
        right.check("key", "cycles").unwrap();
        assert!(
            wrong(Quantity { unit: "ns".into(), ..right.clone() }).contains("unit is \"cycles\"")
        );
        assert!(wrong(Quantity { low: Some(5.0), ..right.clone() }).contains("do not ascend"));
        for value in [-1.0, 1e8 + 1.0, f64::NAN] {
            assert!(wrong(Quantity { value, ..right.clone() }).contains("is out of range"));
        }
        assert!(
            wrong(Quantity { confidence: Confidence::Guess, ..right.clone() })
                .contains("low and high")
        );
        assert!(
            wrong(Quantity { source: String::new(), ..right }).contains("timing.example.latency")
        );
        assert!(file("latency = 3").is_err());
    }
}
