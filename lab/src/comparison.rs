//! Whether two machines showed the same: consoles line by line, and how the run ended.

use std::collections::{BTreeMap, BTreeSet};

use crate::console::{Said, without_begun_line};
use crate::system::Exit;

/// Lines that may differ: the hypervisor says there what it found itself on, how long things took, and which vCPU was
/// the first of its partition to do something.
const LEFT_OUT: [&str; 4] = [
    "powervisor: machine: ",
    "powervisor: time: ",
    "powervisor: withheld: ",
    "powervisor: illegal: ",
];
/// What a payload says of QEMU alone: its timer can run out while a vCPU sets it anew, and then interrupts although the
/// decrementer has time left.
const OF_QEMU: &str = "timer: spurious interrupts: ";
/// What tells, in two lines of the hypervisor, that one vCPU has the machine for itself. Of several the
/// number of exits depends on who runs when.
const ALONE: [&str; 2] = ["powervisor: bundle: 1 partition(s)", ", vCPUs 1, starts"];
/// What the line with a partition's outcome, and its exits, begins with.
const SUMMARY: &str = "powervisor: summary: ";
/// What begins an entry of that line which is left out: QEMU's machine withholds no facility.
const WITHHELD: &str = "facility ";
/// What the hypervisor's lines about one partition begin with.
const ABOUT: &str = "powervisor: partition ";

/// What a run on one machine showed.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Transcript {
    /// Everything on the console, firmware's log included.
    pub console: Vec<u8>,
    /// How the run ended.
    pub exit: Exit,
}

impl Transcript {
    /// What the console said. Where the machine was switched off, firmware may have been about to say so, and a
    /// partition was not.
    #[must_use]
    pub fn said(&self) -> Said {
        Said::by(match self.exit {
            Exit::PoweredOff => without_begun_line(&self.console),
            _ => &self.console,
        })
    }

    /// The console's lines from the hypervisor's first on, without firmware's log.
    #[must_use]
    pub fn lines(&self) -> Vec<String> {
        self.said().lines
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
    let (our_lines, mut qemu_lines) = (ours.lines(), qemu.lines());
    qemu_lines.retain(|line| !line.contains(OF_QEMU));
    if our_lines.is_empty() && qemu_lines.is_empty() {
        return Some("on neither did the hypervisor print anything".to_owned());
    }
    let (our_sources, qemu_sources) = (by_source(&our_lines), by_source(&qemu_lines));
    let sources: BTreeSet<_> = our_sources.keys().chain(qemu_sources.keys()).collect();
    for source in sources {
        let lines = |of: &BTreeMap<_, Vec<String>>| of.get(source).cloned().unwrap_or_default();
        let (ours, qemu) = (lines(&our_sources), lines(&qemu_sources));
        for index in 0..ours.len().max(qemu.len()) {
            let pair = [ours.get(index), qemu.get(index)];
            if pair[0] != pair[1] {
                let of = if source.is_empty() { String::new() } else { format!(" of {source}") };
                let [ours, qemu] = pair.map(|line| line.map_or("(ended)", String::as_str));
                let text =
                    format!("line {}{of} differs\n  ours: {ours}\n  QEMU: {qemu}", index + 1);
                return Some(text);
            }
        }
    }
    None
}

/// A console's lines by who wrote them or whom they are about: the order between partitions is a matter
/// of time, which differs between machines. So are the lines left out that tell the time or name the
/// machine.
fn by_source(lines: &[String]) -> BTreeMap<String, Vec<String>> {
    let mut sources = BTreeMap::<_, Vec<_>>::new();
    let is_alone = ALONE.iter().all(|text| lines.iter().any(|line| line.contains(text)));
    for line in lines.iter().filter(|line| !LEFT_OUT.iter().any(|start| line.starts_with(start))) {
        let line = match line.split_once("; ") {
            Some((outcome, _)) if line.starts_with(SUMMARY) && !is_alone => outcome,
            _ => line,
        };
        let mut entries: Vec<&str> = line.split(", ").collect();
        if line.starts_with(SUMMARY) {
            entries.retain(|entry| !entry.starts_with(WITHHELD));
        }
        let line = entries.join(", ");
        let tagged = line.strip_prefix('[').and_then(|line| line.split_once("] "));
        let about = line.strip_prefix(ABOUT).and_then(|line| line.split_once(": "));
        let source = match (tagged, about) {
            (Some((name, _)), _) => format!("[{name}]"),
            (None, Some((name, _))) => format!("partition {name}"),
            (None, None) => String::new(),
        };
        sources.entry(source).or_default().push(line);
    }
    sources
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

    /// QEMU ends while firmware writes that it switches the machine off.
    #[test]
    fn what_firmware_has_begun_to_say_does_not_count() {
        let ours = transcript("powervisor: 1\nhello\n", Exit::PoweredOff);
        for begun in ["[", "[    2.26", "[    2.263107912,5", "[    2.263107912,5] OP"] {
            let console = format!("powervisor: 1\r\nhello\r\n{begun}");
            let qemu = transcript(&console, Exit::PoweredOff);
            assert_eq!(difference(&ours, &qemu), None, "{begun}");
        }
        for said in ["[a", "[a] x", "hel"] {
            let console = format!("powervisor: 1\r\nhello\r\n{said}");
            let qemu = transcript(&console, Exit::PoweredOff);
            assert!(difference(&ours, &qemu).is_some(), "{said}");
        }
    }

    #[test]
    fn only_the_order_between_partitions_does_not_count() {
        let console = "powervisor: 1\n[a] 1\n[b] 1\n[a] 2\npowervisor: partition a: stopped: x\n\
            powervisor: time: partition a: 7\n";
        let same = "powervisor: 1\npowervisor: partition a: stopped: x\n[b] 1\n[a] 1\n[a] 2\n";
        let swapped = "powervisor: 1\n[a] 2\n[b] 1\n[a] 1\npowervisor: partition a: stopped: x\n";
        let of = |console| transcript(console, Exit::PoweredOff);
        assert_eq!(difference(&of(console), &of(same)), None);
        let expected = "line 1 of [a] differs\n  ours: [a] 1\n  QEMU: [a] 2";
        assert_eq!(difference(&of(console), &of(swapped)).as_deref(), Some(expected));
    }

    #[test]
    fn exits_count_where_they_do_not_depend_on_time() {
        let of = |partitions, exits: &str| {
            let text = format!(
                "powervisor: bundle: {partitions} partition(s)\npowervisor: partition a: LPID 1, vCPUs 1, \
                 starts\npowervisor: summary: partition a: powered off; hypercall {exits}\n"
            );
            transcript(&text, Exit::PoweredOff)
        };
        assert!(difference(&of(1, "5"), &of(1, "6")).is_some());
        assert_eq!(
            difference(&of(1, "5, facility 1, other 0"), &of(1, "5, facility 0, other 0")),
            None
        );
        assert_eq!(difference(&of(2, "5"), &of(2, "6")), None);
    }

    #[test]
    fn a_late_timer_is_excused_on_qemu_alone() {
        let of = |console| transcript(console, Exit::PoweredOff);
        let (punctual, late) =
            ("powervisor: 1\n", "powervisor: 1\n[a] timer: spurious interrupts: 1\n");
        assert_eq!(difference(&of(punctual), &of(late)), None);
        assert!(difference(&of(late), &of(punctual)).is_some());
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
