//! A whole number in a file. Its range is checked where it is known what it is for, so that a complaint has that range.

use std::fmt;

use serde::Deserialize;
use serde::de::{Deserializer, Error, Visitor};

/// Any whole number that TOML can write.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Number(pub i128);

impl<'de> Deserialize<'de> for Number {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct NumberVisitor;
        impl Visitor<'_> for NumberVisitor {
            type Value = Number;

            fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
                formatter.write_str("a whole number")
            }

            fn visit_i64<E: Error>(self, value: i64) -> Result<Number, E> {
                Ok(Number(value.into()))
            }

            fn visit_u64<E: Error>(self, value: u64) -> Result<Number, E> {
                Ok(Number(value.into()))
            }

            fn visit_i128<E: Error>(self, value: i128) -> Result<Number, E> {
                Ok(Number(value))
            }
        }
        deserializer.deserialize_any(NumberVisitor)
    }
}
