//! How many hardware threads a machine has, as people write it: `1x2x4`, chips x cores x threads.

use std::str::FromStr;

/// Chips, cores of each, threads of each core.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Topology(pub [u32; 3]);

/// The text is not a topology.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
#[error(
    "`{0}` is not a topology; it must be chips x cores x threads, three whole numbers such as 1x2x4"
)]
pub struct TopologyError(String);

impl FromStr for Topology {
    type Err = TopologyError;

    fn from_str(text: &str) -> Result<Self, TopologyError> {
        let numbers: Result<Vec<u32>, _> = text.split('x').map(str::parse).collect();
        let numbers = numbers.ok().and_then(|numbers| numbers.try_into().ok());
        numbers.map(Self).ok_or_else(|| TopologyError(text.to_owned()))
    }
}

#[cfg(test)]
mod tests {
    use super::Topology;

    #[test]
    fn three_numbers_make_a_topology() {
        assert_eq!("1x2x4".parse(), Ok(Topology([1, 2, 4])));
        for text in ["", "4", "1x2", "1x2x3x4", "1x2xfour", "1x-2x4"] {
            assert!(text.parse::<Topology>().is_err(), "{text}");
        }
    }
}
