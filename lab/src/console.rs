//! Tells a payload's console from the log that real firmware writes to the same line.
//!
//! skiboot prefixes its log with a time stamp and a level, `[    0.027289225,5] `. Other text, such as
//! the register dump of a crash, has no prefix and stays.

use arch::console::HYPERVISOR;

use crate::record::{Reader, Record};

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

/// A console without a last line of which too little is there to tell whether it is one of firmware's log.
#[must_use]
pub fn without_begun_line(console: &[u8]) -> &[u8] {
    let begin = console.iter().rposition(|byte| *byte == b'\n').map_or(0, |end| end + 1);
    let is_begun = log_prefix(&console[begin..]).is_none();
    if is_begun { &console[..begin] } else { console }
}

/// What a console said, behind firmware's log and whatever came before the hypervisor's first line.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Said {
    /// Its lines, with sentences in the place of the record.
    pub lines: Vec<String>,
    /// The hypervisor's record, or why it is none that is understood; `None` if none came.
    pub record: Option<Result<Record, String>>,
}

impl Said {
    /// What the bytes of a console say.
    #[must_use]
    pub fn by(console: &[u8]) -> Self {
        let mut filter = FirmwareFilter::default();
        let mut reader = Reader::new(true);
        let mut text = reader.pass(&filter.pass(console));
        text.extend(reader.pass(&filter.finish()));
        text.extend(reader.rest());
        Self { lines: lines(&text), record: reader.found }
    }

    /// Fails if the hypervisor gave up, as it does on a processor that it does not know: it switches the
    /// machine off then, as at any other end.
    pub fn check_hypervisor(&self) -> Result<(), String> {
        let is_last_word = |line: &&String| {
            let own = line.strip_prefix(HYPERVISOR).unwrap_or_default();
            own.starts_with("panic: ") || own.starts_with("error: ")
        };
        let first = self.lines.iter().find(is_last_word);
        first.map_or(Ok(()), |line| Err(format!("the hypervisor gave up: {line}")))
    }

    /// Whether every partition ended by switching itself off. Fails with what says otherwise.
    pub fn check_partitions(&self) -> Result<(), String> {
        let record = match (&self.record, self.lines.last()) {
            (Some(record), _) => record.as_ref().map_err(Clone::clone)?,
            (None, Some(last)) => return Err(format!("the hypervisor's last words were: {last}")),
            (None, None) => return Err("the hypervisor printed nothing".to_owned()),
        };
        let failed = record.partitions.iter().find(|partition| !partition.is_well());
        failed.map_or(Ok(()), |partition| {
            Err(format!("partition {}: {}", partition.name, partition.summary()))
        })
    }
}

/// The lines of a console, from the hypervisor's first one on.
#[must_use]
pub fn lines(text: &[u8]) -> Vec<String> {
    String::from_utf8_lossy(text)
        .lines()
        .map(|line| line.trim_end_matches('\r').to_owned())
        .skip_while(|line| !line.starts_with(HYPERVISOR))
        .collect()
}

#[cfg(test)]
mod tests {
    use arch::record::{Counts, Outcome, Partition, Record, START};

    use super::{FirmwareFilter, Said};

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
            Said::by(CONSOLE).lines,
            ["powervisor: version", "[ not a log line", "[1.2] nor this", "", "[0.1,x] nor", "end"]
        );
        assert_eq!(Said::by(b"[    0.027289225,5] OPAL v7.0 starting...\r\n"), Said::default());
    }

    #[test]
    fn only_partitions_that_switched_themselves_off_are_well() {
        let check = |console: &str| Said::by(console.as_bytes()).check_partitions();
        let start = "powervisor: 0.1.0\n";
        let done = "powervisor: all partitions have ended\n";
        let of = |outcomes: &[Outcome]| {
            let counts = Counts::default();
            let partition = |outcome: &Outcome| Partition {
                name: "a",
                outcome: *outcome,
                image: None,
                learned: &[],
                counts,
            };
            let partitions: Vec<_> = outcomes.iter().map(partition).collect();
            let record = Record { threads: &[], partitions: &partitions };
            check(&format!("{start}{START}{record}\n{done}"))
        };
        let (good, bad) = (Outcome::PoweredOff, Outcome::Stopped);
        assert_eq!(of(&[good, good]), Ok(()));
        for outcomes in [[good, bad], [bad, good]] {
            let said = of(&outcomes).unwrap_err();
            assert!(said.starts_with("partition a: stopped; virtual door: "), "{said}");
        }
        // What a partition may say is not enough, nor what another hypervisor counts.
        let error = "powervisor: summary: partition a: powered off";
        assert_eq!(
            check(&format!("{start}{error}\n")),
            Err(format!("the hypervisor's last words were: {error}"))
        );
        assert!(check(&format!("{START}1 x\n")).unwrap_err().contains("version 1"));
        assert!(check("").is_err());
    }
}
