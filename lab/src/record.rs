//! The hypervisor's record: taken out of the console, read, and told in sentences in its place.
//!
//! What it looks like, and why no partition can write one, is in [`arch::record`] and [`arch::console`].

use std::collections::BTreeMap;
use std::fmt::Write as _;

use arch::console::{CONTINUED, HYPERVISOR};
use arch::record::{Fetched, Learned, NAMES, Name, Outcome, START, Thread, VERSION};
use serde::{Deserialize, Serialize};

/// What the hypervisor counted.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Record {
    /// The hardware threads that ran partitions.
    pub threads: Vec<Thread>,
    /// The partitions, in the order of the bundle.
    pub partitions: Vec<Partition>,
}

/// What one partition did.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Partition {
    /// Its name.
    pub name: String,
    /// How it ended, in words.
    pub outcome: String,
    /// Where in real memory its image lies, and its bytes, if it was suspended.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub image: Option<[u64; 2]>,
    /// What its vCPUs have learned of the prefetch engine, in their order, where they do.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub learned: Vec<Learned>,
    /// By the keys of [`NAMES`], all of them.
    pub counts: BTreeMap<String, u64>,
}

impl Partition {
    /// Whether it switched itself off, or was suspended, which somebody asked for.
    #[must_use]
    pub fn is_well(&self) -> bool {
        [Outcome::PoweredOff, Outcome::Suspended]
            .map(Outcome::text)
            .contains(&self.outcome.as_str())
    }

    /// The counts in the order in which they are told: each with its group, its name and unit, and its key.
    pub fn told(&self) -> impl Iterator<Item = (&'static Name, u64)> {
        NAMES.iter().map(|name| (name, self.counts[name.key]))
    }

    /// The counts of one group as people read them.
    fn group(&self, group: &str) -> String {
        let entry = |(name, count): (&Name, u64)| match name.unit {
            "" => format!("{} {count}", name.name),
            unit => format!("{} {count} {unit}", name.name),
        };
        let entries: Vec<_> =
            self.told().filter(|(name, _)| name.group == group).map(entry).collect();
        entries.join(", ")
    }

    /// How it ended, and what it did in no particular time.
    #[must_use]
    pub fn summary(&self) -> String {
        let mut text = self.outcome.clone();
        let mut groups: Vec<&str> = NAMES.iter().map(|name| name.group).collect();
        groups.dedup();
        for group in groups.into_iter().filter(|group| *group != TIME) {
            let _ = write!(text, "; {group}: {}", self.group(group));
        }
        text
    }
}

/// What the vCPUs of partitions, by name, have learned of the prefetch engine, where they do.
pub type Lessons = BTreeMap<String, Vec<Learned>>;

/// What the vCPUs of the partition `name` have learned, as people read it, a line for neighbours that have learned the
/// same, as those of a vcore have.
pub fn lessons(name: &str, learned: &[Learned]) -> impl Iterator<Item = String> {
    let mut first = 0;
    let lesson = move |alike: &[Learned]| {
        let last = first + alike.len() - 1;
        let who = match alike {
            [_] => format!("vCPU {first} has"),
            _ => format!("vCPUs {first} to {last} have"),
        };
        first = last + 1;
        let Learned { best, l2_won, l2_l3_won, changes } = &alike[0];
        let best = match best {
            Fetched::Nothing => "nothing",
            Fetched::L2 => "the L2",
            Fetched::L2L3 => "L2 and L3",
        };
        let won = |what: &str, won: &Option<i32>| {
            won.map_or(String::new(), |won| format!(", {what} {:+.2} %", f64::from(won) / 100.0))
        };
        format!(
            "partition {name}: {who} {best} fetched; changes of mind {changes}{}{}",
            won("last trial of the L2", l2_won),
            won("of L2 and L3 against the best", l2_l3_won)
        )
    };
    learned.chunk_by(PartialEq::eq).map(lesson)
}

/// The group that depends on the machine's speed.
const TIME: &str = "time";

impl Record {
    /// Reads what a line has behind [`START`]. Fails with why it is none that this command knows.
    pub fn read(text: &str) -> Result<Self, String> {
        let (version, json) = text.split_once(' ').unwrap_or((text, ""));
        if version != VERSION.to_string() {
            return Err(format!(
                "the hypervisor's record has version {version}; this command reads version {VERSION}: build both of one \
                 source, with `cargo xtask build`"
            ));
        }
        let wrong = |what: &str| format!("the hypervisor's record is cut or damaged: {what}");
        let record: Self = serde_json::from_str(json).map_err(|error| wrong(&error.to_string()))?;
        for partition in &record.partitions {
            let is_whole = NAMES.iter().all(|name| partition.counts.contains_key(name.key));
            if !is_whole || partition.counts.len() != NAMES.len() {
                return Err(wrong(&format!("the counts of {} are others", partition.name)));
            }
        }
        Ok(record)
    }

    /// What people read of it: a line for each hardware thread, two for each partition, one for each vCPU that learns.
    #[must_use]
    pub fn lines(&self) -> Vec<String> {
        let thread = |thread: &Thread| {
            let Thread { server, elapsed_us, idle_us, own_us, ends_us } = thread;
            format!(
                "time: hardware thread {server:#x}: elapsed {elapsed_us} us, idle {idle_us} us, hypervisor's own {own_us} us, ends of partitions {ends_us} us"
            )
        };
        let time = |partition: &Partition| {
            format!("time: partition {}: {}", partition.name, partition.group(TIME))
        };
        let summary = |partition: &Partition| {
            format!("summary: partition {}: {}", partition.name, partition.summary())
        };
        let threads = self.threads.iter().map(thread);
        let times = self.partitions.iter().map(time);
        let lessons = self.partitions.iter().flat_map(|it| lessons(&it.name, &it.learned));
        let lessons = lessons.map(|lesson| format!("prefetch: {lesson}"));
        let all = threads.chain(times).chain(self.partitions.iter().map(summary)).chain(lessons);
        all.map(|line| format!("{HYPERVISOR}{line}")).collect()
    }
}

/// Takes the record out of a console, as its bytes come, and puts the sentences in its place. Plain data, so that a
/// saved machine can go on in mid-line.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct Reader {
    /// Whether somebody behind this takes the [`CONTINUED`] of partitions for what they are, so that they stay double.
    keeps_pairs: bool,
    state: State,
    /// What was found.
    pub found: Option<Result<Record, String>>,
}

#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
enum State {
    Text,
    /// Behind a [`CONTINUED`].
    Marked,
    /// In what may be a record, from its [`CONTINUED`] on.
    Record(Vec<u8>),
}

impl Reader {
    /// For a console that partitions share, or that one has for itself.
    #[must_use]
    pub const fn new(is_shared: bool) -> Self {
        Self { keeps_pairs: is_shared, state: State::Text, found: None }
    }

    /// What is to be shown of the next bytes.
    pub fn pass(&mut self, bytes: &[u8]) -> Vec<u8> {
        let mut shown = Vec::with_capacity(bytes.len());
        for &byte in bytes {
            self.state = match std::mem::replace(&mut self.state, State::Text) {
                State::Text if byte == CONTINUED => State::Marked,
                State::Text => {
                    shown.push(byte);
                    State::Text
                }
                State::Marked if byte == CONTINUED => {
                    shown.extend(&[CONTINUED; 2][usize::from(!self.keeps_pairs)..]);
                    State::Text
                }
                State::Marked => self.next(vec![CONTINUED], byte, &mut shown),
                State::Record(line) => self.next(line, byte, &mut shown),
            };
        }
        shown
    }

    fn next(&mut self, mut line: Vec<u8>, byte: u8, shown: &mut Vec<u8>) -> State {
        line.push(byte);
        let seen = line.len().min(START.len());
        if line[..seen] != START.as_bytes()[..seen] {
            shown.append(&mut line);
            return State::Text;
        }
        if byte != b'\n' {
            return State::Record(line);
        }
        let text = String::from_utf8_lossy(&line[START.len()..]).into_owned();
        // Firmware puts a carriage return before it.
        let end = if text.ends_with("\r\n") { "\r\n" } else { "\n" };
        let record = Record::read(text.trim_end());
        match &record {
            Ok(record) => {
                record.lines().iter().for_each(|line| shown.extend(format!("{line}{end}").bytes()))
            }
            Err(_) => shown.append(&mut line),
        }
        self.found = Some(record);
        State::Text
    }

    /// What was held back because the console ended before it could be told.
    #[must_use]
    pub fn rest(&self) -> Vec<u8> {
        match &self.state {
            State::Text => Vec::new(),
            State::Marked => vec![CONTINUED],
            State::Record(line) => line.clone(),
        }
    }
}

#[cfg(test)]
mod tests {
    use arch::record::{self, Counts, Fetched, Learned, NAMES, Outcome, START, Thread};

    use super::{Reader, Record};

    /// As the hypervisor writes it: the counts are 1, 2, 3 and so on, or 0.
    fn written() -> String {
        let threads = [Thread { server: 4, elapsed_us: 9, idle_us: 2, own_us: 1, ends_us: 3 }];
        let values = std::array::from_fn(|index| index as u64 + 1);
        let learned = [
            Learned { best: Fetched::L2, l2_won: Some(390), l2_l3_won: Some(-8), changes: 1 },
            Learned { best: Fetched::Nothing, l2_won: None, l2_l3_won: None, changes: 0 },
            Learned { best: Fetched::Nothing, l2_won: None, l2_l3_won: None, changes: 0 },
        ];
        let partitions = [
            record::Partition {
                name: "a",
                outcome: Outcome::PoweredOff,
                image: None,
                learned: &learned,
                counts: Counts::from_values(values),
            },
            record::Partition {
                name: "b",
                outcome: Outcome::Stopped,
                image: Some([0x1_0000, 5]),
                learned: &[],
                counts: Counts::default(),
            },
        ];
        format!("{START}{}\n", record::Record { threads: &threads, partitions: &partitions })
    }

    const TOLD: &str = "powervisor: time: hardware thread 0x4: elapsed 9 us, idle 2 us, hypervisor's own 1 us, ends of partitions 3 us\n\
        powervisor: time: partition a: ran 1 us, in the hypervisor 2 us, preempted 3, decrementer exits 4, restarts 5\n\
        powervisor: time: partition b: ran 0 us, in the hypervisor 0 us, preempted 0, decrementer exits 0, restarts 0\n\
        powervisor: summary: partition a: powered off; virtual door: hypercall 6, data storage 7, instruction storage 8, \
        emulation assistance 9, facility 10, other 11; real door: hypercall 12, data storage 13, instruction storage 14, \
        emulation assistance 15, facility 16, other 17; pages: 1G 18, 2M 19, 64K 20; superpages: promotions 21, \
        demotions 22, failures 23, time 24 us\n\
        powervisor: summary: partition b: stopped; virtual door: hypercall 0, data storage 0, instruction storage 0, \
        emulation assistance 0, facility 0, other 0; real door: hypercall 0, data storage 0, instruction storage 0, \
        emulation assistance 0, facility 0, other 0; pages: 1G 0, 2M 0, 64K 0; superpages: promotions 0, \
        demotions 0, failures 0, time 0 us\n\
        powervisor: prefetch: partition a: vCPU 0 has the L2 fetched; changes of mind 1, last trial of the L2 +3.90 %, of L2 and \
        L3 against the best -0.08 %\n\
        powervisor: prefetch: partition a: vCPUs 1 to 2 have nothing fetched; changes of mind 0\n";

    #[test]
    fn what_the_hypervisor_writes_is_told_in_sentences_however_it_is_cut() {
        let console = format!("hello\x17\x17\n{}powervisor: end\n", written());
        for size in 1..console.len() {
            let mut reader = Reader::new(false);
            let shown: Vec<u8> =
                console.as_bytes().chunks(size).flat_map(|piece| reader.pass(piece)).collect();
            let shown = String::from_utf8(shown).unwrap();
            assert_eq!(shown, format!("hello\x17\n{TOLD}powervisor: end\n"), "pieces of {size}");
            let record = reader.found.unwrap().unwrap();
            assert_eq!(record.threads[0].idle_us, 2);
            assert_eq!(record.partitions[0].counts["pages_64k"], 20);
            assert_eq!(record.partitions[1].image, Some([0x1_0000, 5]));
            assert!(record.partitions[0].is_well() && !record.partitions[1].is_well());
        }
        let mut reader = Reader::new(false);
        let firmware = written().replace('\n', "\r\n");
        assert_eq!(reader.pass(firmware.as_bytes()), TOLD.replace('\n', "\r\n").as_bytes());
    }

    /// The hypervisor writes each CONTINUED of a partition's twice; whatever stands before one, the record is none.
    #[test]
    fn a_record_of_a_partitions_is_text() {
        for before in ["", "\n", "\x17", "x\x17\x17", "\x17\n"] {
            let lie = format!("{before}{}", written());
            for is_shared in [false, true] {
                let mut reader = Reader::new(is_shared);
                let console = lie.replace('\x17', "\x17\x17");
                let shown = reader.pass(console.as_bytes());
                let expected = if is_shared { &console } else { &lie };
                assert_eq!(shown, expected.as_bytes(), "{before:?}");
                assert_eq!(reader.found, None, "{before:?}");
            }
        }
    }

    #[test]
    fn a_record_that_is_not_understood_is_shown_and_says_why() {
        let good = written();
        for (bad, why) in [
            (good.replace("record 4 ", "record 1 "), "version 1; this command reads version 4"),
            (good.replace("]}\n", "\n"), "cut or damaged"),
            (good.replace("pages_1g", "pages_16g"), "the counts of a are others"),
            (good.replace("\"outcome\"", "\"end\""), "cut or damaged"),
            (format!("{START}\n"), "version ; this"),
        ] {
            let mut reader = Reader::new(false);
            assert_eq!(reader.pass(bad.as_bytes()), bad.as_bytes());
            let said = reader.found.unwrap().unwrap_err();
            assert!(said.contains(why), "{said}");
        }
        // In the end it is no record, and what was cut off is not lost.
        for cut in 1..good.len() {
            let mut reader = Reader::new(true);
            assert_eq!(
                [reader.pass(&good.as_bytes()[..cut]), reader.rest()].concat(),
                &good.as_bytes()[..cut]
            );
        }
        let mut reader = Reader::new(true);
        let other = b"\x17powervisor: word\n\x17\n";
        assert_eq!(reader.pass(other), other);
    }

    /// docs/json.md: programs know the counts by these.
    #[test]
    fn keys_are_names_with_their_group() {
        for name in NAMES {
            let unit = if name.unit.is_empty() { String::new() } else { format!(" {}", name.unit) };
            let whole = format!("{} {}{unit}", name.group, name.name);
            assert_eq!(name.key, whole.replace(' ', "_").to_lowercase());
        }
        assert!(Record::read("4 {\"threads\":[],\"partitions\":[]}").is_ok());
    }
}
