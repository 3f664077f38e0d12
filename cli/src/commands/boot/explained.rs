//! What a run in timing mode says of its cycles: text, JSON, and files for other tools.

use std::fmt::Write as _;
use std::path::{Path, PathBuf};

use lab::ledger::names::Names;
use lab::ledger::{Ledger, explain, export};
use serde_json::{Map, Value, json};
use simulator::Machine;

use super::calls::Found;
use crate::failure::Failure;
use crate::output::{check_place, write_file};
use crate::visible::one_line;

/// The ledger of the whole run has this name.
const WHOLE: &str = "boot";
/// What the names of folded stacks and of flame graphs end with.
const STACKS: &str = "folded";
const GRAPH: &str = "svg";

/// What is known of a timed run.
pub(super) struct Explained {
    /// Steps in timing mode before the ledger began.
    pub(super) warm_up: Option<u64>,
    whole: Ledger,
    region: Option<(String, Found, Ledger)>,
    /// Hardware threads.
    threads: usize,
    about: Map<String, Value>,
}

impl Explained {
    /// Of `machine`, if it is or was in timing mode; of its region, what it is and what was found.
    pub(super) fn new(
        machine: &Machine,
        names: &Names,
        warm_up: Option<u64>,
        region: Option<(String, Found)>,
    ) -> Option<Self> {
        let charges = machine.charges()?;
        let mut names = names.clone();
        names.note_memory(machine);
        let state = machine.state();
        let description = &state.description;
        let quantum = machine.timing().map(|timing| timing.settings().quantum);
        let about = json!({
            "experiment": WHOLE,
            "machine": description.name(),
            "config_hash": description.config_hash(),
            "parameters_lock": description.timing().ok()?.checksum(),
            "version": env!("CARGO_PKG_VERSION"),
            "seed": state.seed,
            "quantum": quantum,
        });
        let Value::Object(about) = about else { return None };
        Some(Self {
            warm_up,
            whole: Ledger::new(&charges, &names),
            region: region
                .map(|(name, found)| (name, found, Ledger::new(&charges.of_region(), &names))),
            threads: state.threads.len(),
            about,
        })
    }

    /// How many cycles, who spent them and why: a few lines. Of the region how long it took, where [`Self::text`] does
    /// not say it.
    pub(super) fn summary(&self, is_explained: bool) -> String {
        let Self { threads, .. } = self;
        // Each thread is charged for every cycle of what the ledger has, which may begin long after the machine did.
        let all: u64 = self.whole.sum_by(|_| ()).iter().map(|(_, sum)| sum).sum();
        let cycles = all.div_ceil(*threads as u64);
        let owners = explain::by_owner(&self.whole);
        let region = match &self.region {
            Some((name, found, _)) if !is_explained => {
                let more = if found.calls == 0 { "" } else { "; --explain says where they went" };
                format!("\n\n{}{more}", self.region_line(name, found).trim())
            }
            _ => String::new(),
        };
        format!(
            "\n{cycles} cycles, hardware threads: {threads}, parameters {}{}\n{}{region}",
            self.about["parameters_lock"].as_str().unwrap_or_default(),
            self.left_out(),
            owners.trim_end()
        )
    }

    /// How often the region was entered, and how long it took.
    fn region_line(&self, name: &str, found: &Found) -> String {
        let Found { calls, returned, least, most, sum, .. } = *found;
        let mut text =
            format!("\nregion {}: entered {calls} times, left {returned} times", one_line(name));
        if returned > 0 {
            let mean = sum as f64 / returned as f64;
            let _ = write!(text, ", {mean:.2} cycles each, {least} to {most}");
        }
        text + &self.left_out()
    }

    /// What a person may take the region for that it is not: code that runs, and that comes back to its caller.
    pub(super) fn warning(&self) -> Option<String> {
        let (name, found, _) = self.region.as_ref()?;
        let name = one_line(name);
        match *found {
            Found { calls: 0, .. } => Some(format!(
                "the region {name} was never entered: what is timed did not come there, or a compiler has put the \
                 function into its callers; run for longer, begin earlier (--warm-up), or name another one"
            )),
            Found { returned: 0, moved: 0, .. } => Some(format!(
                "the region {name} was entered and never left, as what ends in rfid or in a jump never is: all that \
                 came after its first entry is charged to it; name a function that returns to its caller, or a mark"
            )),
            _ => None,
        }
    }

    fn left_out(&self) -> String {
        self.warm_up.map_or_else(String::new, |steps| {
            format!("; the ledger leaves out {steps} steps of warm-up")
        })
    }

    /// Where the cycles of the region went, or those of the run.
    pub(super) fn text(&self) -> String {
        let Some((name, found, ledger)) = &self.region else {
            let text = explain::explain(&self.whole, 1, WHOLE, &[]);
            return format!("\nwhere the cycles went{}\n\n{text}", self.left_out());
        };
        let Found { calls, returned, moved, inner, .. } = *found;
        let mut text = self.region_line(name, found);
        text.push('\n');
        if inner > 0 {
            let _ = writeln!(
                text,
                "{inner} entries of a thread that was in it (recursion, or another task while the caller slept) are \
                 part of the outer"
            );
        }
        if moved > 0 {
            let _ = writeln!(
                text,
                "{moved} were left by another thread than had entered it: what that one did is not part of it"
            );
        }
        let left = calls - returned - moved;
        if left > 0 {
            let _ =
                writeln!(text, "{left} were not left at the end: they are part of it up to there");
        }
        let _ = write!(text, "\n{}", explain::explain(ledger, calls, "entry", &[]));
        text
    }

    /// What the line of JSON has of it.
    pub(super) fn json(&self) -> Map<String, Value> {
        let mut keys = self.about.clone();
        let mut ledger = Map::from_iter([(WHOLE.to_owned(), json!(self.whole))]);
        keys.insert("warm_up_steps".to_owned(), json!(self.warm_up));
        if let Some((name, found, of_region)) = &self.region {
            ledger.insert(name.clone(), json!(of_region));
            let Found { calls, returned, moved, inner, least, most, sum } = *found;
            let region = json!({
                "name": name, "entered": calls, "left": returned, "moved": moved, "inner": inner,
                "cycles_least": least, "cycles_most": most, "cycles_sum": sum,
            });
            keys.insert("region".to_owned(), region);
        }
        keys.insert("ledger".to_owned(), Value::Object(ledger));
        keys
    }

    /// Writes stacks and flame graph of the run, and of its region, into `folder`.
    pub(super) fn write(&self, folder: &Path) -> Result<(), Failure> {
        let region = self.region.iter().map(|(name, _, ledger)| (name.as_str(), ledger));
        for (name, ledger) in [(WHOLE, &self.whole)].into_iter().chain(region) {
            write_file(&file(folder, name, STACKS), export::folded(ledger).as_bytes())?;
            if ledger.elapsed_thread_cycles > 0 {
                let graph = export::flame_graph(ledger, &format!("{name}: cycles"))
                    .map_err(|error| Failure::run(error.to_string()))?;
                write_file(&file(folder, name, GRAPH), &graph)?;
            }
        }
        Ok(())
    }
}

/// Where the line of JSON lies in `folder`.
pub(super) fn json_file(folder: &Path) -> PathBuf {
    file(folder, WHOLE, "json")
}

/// Every file that a run and its `region` have in `folder`.
pub(super) fn files(folder: &Path, region: Option<&str>) -> Vec<PathBuf> {
    let names = [WHOLE].into_iter().chain(region);
    let both = |name| [STACKS, GRAPH].map(|ending| file(folder, name, ending));
    names.flat_map(both).chain([json_file(folder)]).collect()
}

/// Fails if nothing could be written into `folder`, which is made.
pub(super) fn check_folder(folder: &Path) -> Result<(), Failure> {
    std::fs::create_dir_all(folder).map_err(|error| {
        let text = format!("cannot be made: {error}; name a folder that can be written");
        Failure::input(folder.display(), text)
    })?;
    check_place(&json_file(folder))
}

/// A name with nothing in it that a path would take for its own.
fn file(folder: &Path, name: &str, ending: &str) -> PathBuf {
    let name: String = name
        .chars()
        .map(|letter| if letter.is_alphanumeric() || "._-".contains(letter) { letter } else { '_' })
        .collect();
    folder.join(format!("{name}.{ending}"))
}
