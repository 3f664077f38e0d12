//! `[prefetch_engine]`: what the micro-partition prefetch engine of a POWER8 is taken to be.

use serde::{Deserialize, Serialize};

use crate::quantity::{Bound, Confidence, DescriptionError, Quantity, error};
use crate::state::prefetch_engine::{Encoding, Rules};

/// A choice between readings of the sources, with who says so.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Choice<T> {
    value: T,
    confidence: Confidence,
    source: String,
}

/// How software learns what is under way.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
enum Completion {
    /// Reading MPPR shows it.
    Mppr,
    /// It does not.
    None,
}

/// What a table does that is not aligned to its largest size.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
enum Misaligned {
    /// It stops the machine.
    Stop,
    /// It begins at the multiple below.
    RoundedDown,
}

/// What a command does that comes while the engine is at another one.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
enum Overlap {
    /// It stops the machine, where no source says what happens.
    Stop,
    /// It ends the other one.
    Newest,
}

#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct PrefetchEngineFile {
    encoding: Choice<Encoding>,
    completion: Choice<Completion>,
    misaligned: Choice<Misaligned>,
    overlap: Choice<Overlap>,
    /// First and last bit of the rate in MPPR.
    rate_bits: Choice<[u32; 2]>,
    /// Cycles between lines by rate.
    rates: Choice<Vec<u64>>,
    log_interval: Quantity,
    lines_under_way: Quantity,
}

impl PrefetchEngineFile {
    pub(super) fn check(&self) -> Result<(), DescriptionError> {
        let [first, last] = self.rate_bits.value;
        // Bits 2:3 and 16:49 say something else.
        if !(4..=15).contains(&first) || !(first..=15).contains(&last) {
            return Err(error(format!(
                "prefetch_engine.rate_bits: {first} to {last} must ascend and lie in bits 4 to 15"
            )));
        }
        let rates = self.rates.value.len();
        let most = 1_usize << (last - first + 1);
        if rates == 0 || rates > most {
            return Err(error(format!(
                "prefetch_engine.rates: bits {first} to {last} hold 1 to {most} rates, and there are {rates}"
            )));
        }
        if let Some(rate) = self.rates.value.iter().find(|&&rate| rate > 4096) {
            return Err(error(format!(
                "prefetch_engine.rates: {rate} is out of range; it must be 4096 at most"
            )));
        }
        self.log_interval.check("prefetch_engine.log_interval", "cycles")?;
        self.lines_under_way.check("prefetch_engine.lines_under_way", "lines")?;
        if self.lines_under_way.at(Bound::Low) < 1.0 {
            return Err(error("prefetch_engine.lines_under_way must be 1 at least"));
        }
        Ok(())
    }

    /// As the machine uses it; it was checked.
    pub(super) fn rules(&self) -> Rules {
        Rules {
            encoding: self.encoding.value,
            shows_status: self.completion.value == Completion::Mppr,
            rounds_down: self.misaligned.value == Misaligned::RoundedDown,
            newest_wins: self.overlap.value == Overlap::Newest,
            rate: self.rate_bits.value.into(),
            intervals: self.rates.value.clone(),
        }
    }

    /// Cycles for each line of a log, and lines on their way at most.
    pub(super) fn pace(&self, bound: Bound) -> [u64; 2] {
        [&self.log_interval, &self.lines_under_way]
            .map(|quantity| quantity.at(bound).round() as u64)
    }
}
