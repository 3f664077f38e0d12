//! How much a payload got done in a second of its own time: it prints how much of what, and the host reckons.
//!
//! A line is `rate: `, what was done, how much, and in how many ticks of the time base, with a blank between.

/// What can be done.
pub const KINDS: [&str; 5] = ["jobs", "copy", "scale", "add", "triad"];

/// Of each of [`KINDS`] how much in a second, where the payload says it.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Rates(pub [Option<u64>; KINDS.len()]);

/// What begins a line.
const PREFIX: &str = "rate: ";

impl Rates {
    /// Of all lines that have one, of a machine with this time base.
    ///
    /// # Errors
    /// What is wrong, for a person.
    pub fn of_console(lines: &[String], timebase_hz: u64) -> Result<Self, String> {
        let mut rates = Self::default();
        for line in lines.iter().filter_map(|line| line.strip_prefix(PREFIX)) {
            let wrong =
                || format!("`{PREFIX}{line}` does not say how much of what in how many ticks");
            let words: Vec<&str> = line.split_ascii_whitespace().collect();
            let [kind, done, ticks] = words[..] else { return Err(wrong()) };
            let kind = KINDS.iter().position(|known| *known == kind).ok_or_else(wrong)?;
            let [done, ticks] = [done, ticks].map(|word| word.parse::<u64>().ok());
            let (Some(done), Some(ticks @ 1..)) = (done, ticks) else { return Err(wrong()) };
            let rate = u128::from(done) * u128::from(timebase_hz) / u128::from(ticks);
            let rate = u64::try_from(rate).map_err(|_| wrong())?;
            if rates.0[kind].replace(rate).is_some() {
                return Err(format!("the console says twice how much was done: {}", KINDS[kind]));
            }
        }
        Ok(rates)
    }

    /// The least of each, and the most.
    #[must_use]
    pub fn ends(all: &[Self]) -> Option<[Self; 2]> {
        let fold = |with: fn(u64, u64) -> u64| {
            all.iter().copied().reduce(|one, other| {
                Self(std::array::from_fn(|kind| Some(with(one.0[kind]?, other.0[kind]?))))
            })
        };
        Some([fold(u64::min)?, fold(u64::max)?])
    }
}

#[cfg(test)]
mod tests {
    use super::Rates;

    fn of(lines: &[&str]) -> Result<Rates, String> {
        let lines: Vec<String> = lines.iter().map(|line| (*line).to_owned()).collect();
        Rates::of_console(&lines, 512_000_000)
    }

    #[test]
    fn a_rate_is_what_is_done_in_a_second() {
        let rates = of(&["rate: copy 1000 512", "samples: 1", "rate: jobs 3 1024000000"]).unwrap();
        assert_eq!(rates, Rates([Some(1), Some(1_000_000_000), None, None, None]));
    }

    #[test]
    fn what_is_no_rate_is_said() {
        for line in [
            "rate: copy 1",
            "rate: copy 1 0",
            "rate: copy -1 5",
            "rate: jumps 1 5",
            "rate: add 1 2 3",
        ] {
            assert!(of(&[line]).unwrap_err().contains(line), "{line}");
        }
        assert!(of(&["rate: add 1 2", "rate: add 1 2"]).unwrap_err().contains("twice"));
    }

    #[test]
    fn ends_are_of_each() {
        let all = ["rate: add 9 1", "rate: add 7 1"].map(|line| of(&[line]).unwrap());
        let [least, most] = Rates::ends(&all).unwrap();
        assert_eq!(
            (least.0[3], most.0[3], least.0[0]),
            (Some(3_584_000_000), Some(4_608_000_000), None)
        );
    }
}
