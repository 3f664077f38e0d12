//! `unittests.cfg`: which tests there are and what each is given.

use std::fs;
use std::path::Path;
use std::process::Command;

use anyhow::{Context, Result, ensure};

use crate::workspace::output;

/// Memory that QEMU's pseries has unless it is told otherwise.
const MEBIBYTES: u32 = 512;

/// A test.
#[derive(Clone, Debug)]
pub(super) struct Test {
    pub(super) name: String,
    /// The program, a file of the build.
    pub(super) file: String,
    /// Arguments, which a shell has not seen yet.
    arguments: String,
    /// Processors, and how the file writes it.
    pub(super) processors: u32,
    pub(super) topology: String,
    pub(super) mebibytes: u32,
    /// Options for QEMU.
    pub(super) options: Vec<String>,
    /// `-accel` of QEMU's.
    pub(super) accelerator: Option<String>,
    /// The only machine that it is for.
    machine: Option<String>,
    groups: String,
}

impl Test {
    /// Whether it has to be migrated while it runs.
    pub(super) fn is_migrated(&self) -> bool {
        self.groups.split_whitespace().any(|group| group == "migration")
    }

    /// Whether it is for this machine of QEMU's.
    pub(super) fn is_for(&self, machine: &str) -> bool {
        self.machine.as_deref().is_none_or(|only| only == machine)
    }

    /// The day that the machine's clock has to show at the start, if the test asks for one.
    pub(super) fn date(&self) -> Option<&str> {
        let place = self.options.iter().position(|option| option == "-rtc")?;
        self.options.get(place + 1)?.strip_prefix("base=")
    }

    /// Its arguments; `now` is what the word `date +%s` in them is to say, if that is not the host's time.
    pub(super) fn arguments(&self, now: Option<u64>) -> Result<String> {
        let text = match now {
            Some(now) => self.arguments.replace("$(date +%s)", &now.to_string()),
            None => self.arguments.clone(),
        };
        if !text.contains('$') {
            return Ok(text);
        }
        // The file is a shell's: its own runner has a shell expand it too.
        let script = format!("cat <<END\n{text}\nEND\n");
        let expanded = output(Command::new("bash").arg("-c").arg(script))?;
        Ok(expanded.trim_end_matches('\n').to_owned())
    }
}

/// The tests of a build, as its sources list them.
pub(super) fn read(path: &Path) -> Result<Vec<Test>> {
    let text = fs::read_to_string(path).with_context(|| format!("reading {}", path.display()))?;
    let mut tests: Vec<Test> = Vec::new();
    for (number, line) in (1..).zip(text.lines()) {
        let line = line.split('#').next().unwrap_or_default().trim();
        if let Some(name) = line.strip_prefix('[').and_then(|line| line.strip_suffix(']')) {
            tests.push(Test {
                name: name.to_owned(),
                file: String::new(),
                arguments: String::new(),
                processors: 1,
                topology: "1".to_owned(),
                mebibytes: MEBIBYTES,
                options: Vec::new(),
                accelerator: None,
                machine: None,
                groups: String::new(),
            });
        } else if let Some((key, value)) = line.split_once('=')
            && let Some(test) = tests.last_mut()
        {
            test.set(key.trim(), unquoted(value.trim()))
                .with_context(|| format!("{}:{number}: {line}", path.display()))?;
        }
    }
    ensure!(!tests.is_empty(), "{} lists no test", path.display());
    Ok(tests)
}

fn unquoted(value: &str) -> &str {
    let inside = |quote| value.strip_prefix(quote)?.strip_suffix(quote);
    inside('"').or_else(|| inside('\'')).unwrap_or(value)
}

impl Test {
    fn set(&mut self, key: &str, value: &str) -> Result<()> {
        match key {
            "file" => value.clone_into(&mut self.file),
            "smp" => {
                value.clone_into(&mut self.topology);
                let processors = value.split(',').next().unwrap_or_default();
                self.processors = processors.parse().context("no number of processors")?;
            }
            "test_args" => value.clone_into(&mut self.arguments),
            "machine" => self.machine = Some(value.to_owned()),
            "accel" => self.accelerator = Some(value.to_owned()),
            "groups" => value.clone_into(&mut self.groups),
            "qemu_params" | "extra_params" => {
                let mut words =
                    value.split_whitespace().map(|word| unquoted(word).replace('"', ""));
                while let Some(word) = words.next() {
                    if word == "-m" {
                        let size = words.next().context("-m says no size")?;
                        self.mebibytes = mebibytes(&size).context("no size of memory")?;
                    } else {
                        self.options.push(word);
                    }
                }
            }
            // Only their own runner asks for these.
            _ => (),
        }
        Ok(())
    }
}

fn mebibytes(size: &str) -> Option<u32> {
    let lower = size.to_ascii_lowercase();
    match lower.strip_suffix('g') {
        Some(number) => number.parse::<u32>().ok()?.checked_mul(1024),
        None => lower.trim_end_matches('m').parse().ok(),
    }
}
