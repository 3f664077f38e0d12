//! Whether two machines showed the same: consoles line by line, and how the run ended.

use crate::console::payload_lines;
use crate::system::Exit;

/// The one line that may differ: the hypervisor names there what it found itself on.
const MACHINE_LINE: &str = "powervisor: machine: ";

/// What a run on one machine showed.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Transcript {
    /// Everything on the console, firmware's log included.
    pub console: Vec<u8>,
    /// How the run ended.
    pub exit: Exit,
}

impl Transcript {
    /// The console's lines from the hypervisor's first on, without firmware's log.
    #[must_use]
    pub fn lines(&self) -> Vec<String> {
        payload_lines(&self.console)
    }
}

/// Where two machines disagree, in a line or a few; `None` if they agree.
#[must_use]
pub fn difference(ours: &Transcript, qemu: &Transcript) -> Option<String> {
    if ours.exit != qemu.exit {
        let reports = [&ours.exit, &qemu.exit].map(|exit| match exit {
            Exit::Stopped(report) => format!("\n{report}"),
            _ => String::new(),
        });
        return Some(format!("ours {}, QEMU {}{}", ours.exit, qemu.exit, reports.concat()));
    }
    let (our_lines, qemu_lines) = (ours.lines(), qemu.lines());
    if our_lines.is_empty() && qemu_lines.is_empty() {
        return Some("on neither did the hypervisor print anything".to_owned());
    }
    for index in 0..our_lines.len().max(qemu_lines.len()) {
        let pair = [our_lines.get(index), qemu_lines.get(index)];
        let names_machine =
            pair.iter().all(|line| line.is_some_and(|line| line.starts_with(MACHINE_LINE)));
        if pair[0] != pair[1] && !names_machine {
            let [ours, qemu] = pair.map(|line| line.map_or("(ended)", String::as_str));
            return Some(format!("line {} differs\n  ours: {ours}\n  QEMU: {qemu}", index + 1));
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::{Transcript, difference};
    use crate::system::Exit;

    fn transcript(console: &str, exit: Exit) -> Transcript {
        Transcript { console: console.as_bytes().to_vec(), exit }
    }

    #[test]
    fn firmware_line_ends_and_the_machine_line_do_not_count() {
        let ours = transcript("powervisor: 1\npowervisor: machine: a\nhello\n", Exit::PoweredOff);
        let qemu = transcript(
            "[    0.027289225,5] OPAL v7.0\r\npowervisor: 1\r\npowervisor: machine: b\r\nhello\r\n",
            Exit::PoweredOff,
        );
        assert_eq!(difference(&ours, &qemu), None);
    }

    #[test]
    fn everything_else_counts() {
        let ours = transcript("powervisor: 1\nhello\n", Exit::PoweredOff);
        for (console, exit, expected) in [
            ("powervisor: 1\nhello\n", Exit::Rebooted, "ours powered off, QEMU rebooted"),
            (
                "powervisor: 1\nhullo\n",
                Exit::PoweredOff,
                "line 2 differs\n  ours: hello\n  QEMU: hullo",
            ),
            ("powervisor: 1\n", Exit::PoweredOff, "line 2 differs\n  ours: hello\n  QEMU: (ended)"),
            ("", Exit::PoweredOff, "line 1 differs\n  ours: powervisor: 1\n  QEMU: (ended)"),
        ] {
            assert_eq!(difference(&ours, &transcript(console, exit)).as_deref(), Some(expected));
        }
        let silent = transcript("", Exit::PoweredOff);
        assert!(difference(&silent, &silent).is_some());
    }
}
