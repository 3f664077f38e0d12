//! Tells a payload's console from the log that real firmware writes to the same line.
//!
//! skiboot prefixes its log with a time stamp and a level, `[    0.027289225,5] `. Other text, such as
//! the register dump of a crash, has no prefix and stays.

/// Takes firmware's log out of a console stream, without holding back other text.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct FirmwareFilter {
    state: State,
}

#[derive(Clone, PartialEq, Eq, Debug)]
enum State {
    /// This much of a line may still become a log line's prefix.
    Undecided(Vec<u8>),
    /// Inside a line that is not firmware's.
    Pass,
    /// Inside a line of firmware's log.
    Drop,
}

impl Default for State {
    fn default() -> Self {
        Self::Undecided(Vec::new())
    }
}

impl FirmwareFilter {
    /// The part of the next `bytes` of the console that is not firmware's log.
    pub fn pass(&mut self, bytes: &[u8]) -> Vec<u8> {
        let mut passed = Vec::with_capacity(bytes.len());
        for &byte in bytes {
            match &mut self.state {
                State::Undecided(line) => {
                    line.push(byte);
                    match log_prefix(line) {
                        Some(true) => self.state = State::Drop,
                        Some(false) => {
                            passed.append(line);
                            self.state = State::Pass;
                        }
                        None => (),
                    }
                }
                State::Pass => passed.push(byte),
                State::Drop => (),
            }
            if byte == b'\n' {
                self.state = State::default();
            }
        }
        passed
    }

    /// What was held back because the stream ended before it could be told.
    #[must_use]
    pub fn finish(self) -> Vec<u8> {
        match self.state {
            State::Undecided(line) => line,
            State::Pass | State::Drop => Vec::new(),
        }
    }
}

/// Whether `line` begins with the prefix of a log line; `None` if more of it is needed to tell.
fn log_prefix(line: &[u8]) -> Option<bool> {
    let after = |line: &[u8], allowed: fn(&u8) -> bool| {
        line.iter().position(|byte| !allowed(byte)).map(|end| (end, line[end]))
    };
    let Some(line) = line.strip_prefix(b"[") else { return Some(false) };
    let (blanks, _) = after(line, |byte| *byte == b' ')?;
    let (seconds, point) = after(&line[blanks..], u8::is_ascii_digit)?;
    if seconds == 0 || point != b'.' {
        return Some(false);
    }
    let line = &line[blanks + seconds + 1..];
    let (fraction, comma) = after(line, u8::is_ascii_digit)?;
    if fraction == 0 || comma != b',' {
        return Some(false);
    }
    match line[fraction + 1..] {
        [] => None,
        [level] => (!level.is_ascii_digit()).then_some(false),
        [level, bracket, ..] => Some(level.is_ascii_digit() && bracket == b']'),
    }
}

/// What every line of the hypervisor's own begins with.
const HYPERVISOR_PREFIX: &str = "powervisor: ";

/// The lines of a console from the hypervisor's first one on, without firmware's log.
#[must_use]
pub fn payload_lines(console: &[u8]) -> Vec<String> {
    let mut filter = FirmwareFilter::default();
    let mut text = filter.pass(console);
    text.extend(filter.finish());
    String::from_utf8_lossy(&text)
        .lines()
        .map(|line| line.trim_end_matches('\r').to_owned())
        .skip_while(|line| !line.starts_with(HYPERVISOR_PREFIX))
        .collect()
}

/// What the hypervisor's last line says if it did all it was asked to.
pub const DONE: &str = "powervisor: all partitions have ended";
/// What a line with a partition's outcome begins with; the name and the outcome follow.
const SUMMARY: &str = "powervisor: summary: partition ";

/// Whether, by the last lines of a console, every partition ended by switching itself off. Fails with
/// the line that says otherwise.
pub fn check_partitions(lines: &[String]) -> Result<(), String> {
    let Some((last, before)) = lines.split_last() else {
        return Err("the hypervisor printed nothing".to_owned());
    };
    if last != DONE {
        return Err(format!("the hypervisor's last words were: {last}"));
    }
    let summaries = before.iter().rev().map_while(|line| line.strip_prefix(SUMMARY));
    let failed = |summary: &&str| {
        !summary.split_once(": ").is_some_and(|(_, end)| end.starts_with("powered off"))
    };
    summaries.into_iter().find(failed).map_or(Ok(()), |summary| Err(format!("partition {summary}")))
}

#[cfg(test)]
mod tests {
    use super::{FirmwareFilter, check_partitions, payload_lines};

    const CONSOLE: &[u8] = b"[    0.027289225,5] OPAL v7.0 starting...\r\nstray\r\n[  123.5,7] x\r\n\
        powervisor: version\r\n[ not a log line\r\n[1.2] nor this\n\n[0.1,x] nor\n[    9.027289225,5] OPAL: off\r\nend";

    #[test]
    fn only_log_lines_are_taken_out() {
        let expected = b"stray\r\npowervisor: version\r\n[ not a log line\r\n[1.2] nor this\n\n[0.1,x] nor\nend";
        // However the stream is cut into pieces.
        for size in 1..CONSOLE.len() {
            let mut filter = FirmwareFilter::default();
            let mut passed = Vec::new();
            for piece in CONSOLE.chunks(size) {
                passed.extend(filter.pass(piece));
            }
            passed.extend(filter.finish());
            assert_eq!(passed, expected, "in pieces of {size}");
        }
    }

    #[test]
    fn text_is_not_held_back_once_it_cannot_be_a_log_line() {
        let mut filter = FirmwareFilter::default();
        assert_eq!(filter.pass(b"prompt> "), b"prompt> ");
        assert_eq!(filter.pass(b"\n[  1"), b"\n");
        assert_eq!(filter.clone().finish(), b"[  1");
        assert_eq!(filter.pass(b"a"), b"[  1a");
    }

    #[test]
    fn lines_begin_with_the_hypervisors_first() {
        assert_eq!(
            payload_lines(CONSOLE),
            ["powervisor: version", "[ not a log line", "[1.2] nor this", "", "[0.1,x] nor", "end"]
        );
        assert!(payload_lines(b"[    0.027289225,5] OPAL v7.0 starting...\r\n").is_empty());
    }

    #[test]
    fn only_partitions_that_switched_themselves_off_are_well() {
        let check = |console: &str| check_partitions(&payload_lines(console.as_bytes()));
        let start = "powervisor: 0.1.0\n";
        let good = "powervisor: summary: partition a: powered off; door 1\n";
        let bad = "powervisor: summary: partition b: stopped; door 1\n";
        let done = "powervisor: all partitions have ended\n";
        assert_eq!(check(&format!("{start}{good}{good}{done}")), Ok(()));
        assert_eq!(
            check(&format!("{start}{good}{bad}{done}")),
            Err("partition b: stopped; door 1".to_owned())
        );
        assert_eq!(
            check(&format!("{start}{bad}{good}{done}")),
            Err("partition b: stopped; door 1".to_owned())
        );
        let error = "powervisor: error: bundle: cut";
        assert_eq!(
            check(&format!("{start}{error}\n")),
            Err(format!("the hypervisor's last words were: {error}"))
        );
        assert!(check("").is_err());
    }
}
