//! Figures of samples that a payload took itself, such as how late it woke: it prints them, and the host reckons.
//!
//! The line is `samples: ` and numbers with a blank between, in ticks of the time base.

/// Of some samples, in nanoseconds, each rounded to a whole number.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Summary {
    /// As many samples are below it as above.
    pub median: u64,
    /// The least.
    pub minimum: u64,
    /// The most.
    pub maximum: u64,
    /// Their sum by their number.
    pub mean: u64,
    /// The standard deviation of the samples.
    pub deviation: u64,
}

/// What begins the line with the samples.
const PREFIX: &str = "samples: ";

impl Summary {
    /// Whether the payload has printed some.
    #[must_use]
    pub fn is_in(lines: &[String]) -> bool {
        lines.iter().any(|line| line.starts_with(PREFIX))
    }

    /// Of the samples in the only line that has some, of a machine with this time base.
    ///
    /// # Errors
    /// What is wrong, for a person.
    pub fn of_console(lines: &[String], timebase_hz: u64) -> Result<Self, String> {
        let mut found = lines.iter().filter_map(|line| line.strip_prefix(PREFIX));
        let (Some(line), None) = (found.next(), found.next()) else {
            return Err(format!("the console has not one line that begins with `{PREFIX}`"));
        };
        let number = |word: &str| {
            word.parse().map_err(|_| format!("`{word}` among the samples is no number of ticks"))
        };
        let mut ticks =
            line.split_ascii_whitespace().map(number).collect::<Result<Vec<u64>, _>>()?;
        ticks.sort_unstable();
        let (Some(&first), Some(&last)) = (ticks.first(), ticks.last()) else {
            return Err("there is no sample".to_owned());
        };
        let nanoseconds = |ticks: f64| (ticks * 1e9 / timebase_hz as f64).round() as u64;
        let count = ticks.len();
        let middle = (ticks[(count - 1) / 2] as f64 + ticks[count / 2] as f64) / 2.0;
        let mean = ticks.iter().map(|ticks| *ticks as f64).sum::<f64>() / count as f64;
        let squares = ticks.iter().map(|ticks| (*ticks as f64 - mean).powi(2)).sum::<f64>();
        let deviation = if count > 1 { (squares / (count - 1) as f64).sqrt() } else { 0.0 };
        Ok(Self {
            median: nanoseconds(middle),
            minimum: nanoseconds(first as f64),
            maximum: nanoseconds(last as f64),
            mean: nanoseconds(mean),
            deviation: nanoseconds(deviation),
        })
    }

    /// The least of each figure, and the most.
    #[must_use]
    pub fn ends(all: &[Self]) -> Option<[Self; 2]> {
        let fold = |with: fn(u64, u64) -> u64| {
            all.iter().copied().reduce(|one, other| Self {
                median: with(one.median, other.median),
                minimum: with(one.minimum, other.minimum),
                maximum: with(one.maximum, other.maximum),
                mean: with(one.mean, other.mean),
                deviation: with(one.deviation, other.deviation),
            })
        };
        Some([fold(u64::min)?, fold(u64::max)?])
    }
}

#[cfg(test)]
mod tests {
    use super::Summary;

    fn of(lines: &[&str]) -> Result<Summary, String> {
        let lines: Vec<String> = lines.iter().map(|line| (*line).to_owned()).collect();
        Summary::of_console(&lines, 500_000_000)
    }

    #[test]
    fn the_figures_of_four_samples_are_those_of_a_pocket_calculator() {
        let summary = of(&["idle: timer", "samples: 2 4 4 10 "]).unwrap();
        let Summary { median, minimum, maximum, mean, deviation } = summary;
        // In ticks of 2 ns: mean 5, squares 9 + 1 + 1 + 25 = 36, by 3, root 3.46.
        assert_eq!([median, minimum, maximum, mean, deviation], [8, 4, 20, 10, 7]);
    }

    #[test]
    fn what_are_no_samples_is_said() {
        assert!(of(&["idle"]).unwrap_err().contains("not one line"));
        assert!(of(&["samples: 1", "samples: 2"]).unwrap_err().contains("not one line"));
        assert!(of(&["samples: 1 -2"]).unwrap_err().contains("`-2`"));
        assert!(of(&["samples:  "]).unwrap_err().contains("no sample"));
    }

    #[test]
    fn ends_are_of_each_figure() {
        let [one, other] = ["samples: 1 3", "samples: 2 2"].map(|line| of(&[line]).unwrap());
        let [least, most] = Summary::ends(&[one, other]).unwrap();
        assert_eq!((least.minimum, least.maximum, least.deviation), (2, 4, 0));
        assert_eq!((most.minimum, most.maximum, most.deviation), (4, 6, 3));
    }
}
