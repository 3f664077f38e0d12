//! fuzz-machine: random partitions on our machine, while the oracle watches.
//!
//! Each number makes one system: partitions in a storm of random exits and one that misbehaves, beside two that do
//! no harm, on some number of hardware threads. Nobody may get what is another's or lose what is its own, the
//! storms find their registers right, the harmless ones print what they print alone, and the hypervisor runs to
//! its end. `cargo xtask fuzz` runs it; a number that breaks something can be tried again by `--first N --count 1`.

use std::process::ExitCode;
use std::time::{Duration, Instant, SystemTime};

use clap::Parser;
use system_tests::containment::{MODES, check, harmless, on_threads, victims, watched};
use system_tests::system_of;

/// Chips, cores of each, threads of each core.
const TOPOLOGIES: [[u32; 3]; 6] =
    [[1, 1, 1], [1, 2, 1], [1, 4, 1], [1, 1, 4], [1, 2, 2], [2, 2, 4]];
/// Between two lines of progress.
const PROGRESS: Duration = Duration::from_secs(10);

/// Run random partitions on our machine, while the oracle watches.
#[derive(Parser, Debug)]
struct Arguments {
    /// Begin no other system after this many seconds.
    #[arg(long, default_value_t = 60)]
    seconds: u64,
    /// Begin with the system of this number; without it, with another one every second.
    #[arg(long)]
    first: Option<u64>,
    /// Run at most this many systems.
    #[arg(long, default_value_t = u64::MAX)]
    count: u64,
}

/// Choices that follow from a number (SplitMix64).
struct Choices(u64);

impl Choices {
    fn below(&mut self, end: u64) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mixed = (self.0 ^ self.0 >> 30).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        let mixed = (mixed ^ mixed >> 27).wrapping_mul(0x94D0_49BB_1331_11EB);
        (mixed ^ mixed >> 31) % end
    }

    fn one_of<T: Copy>(&mut self, all: &[T]) -> T {
        all[self.below(all.len() as u64) as usize]
    }
}

/// A partition file, and the machine's topology.
fn system(choices: &mut Choices) -> (String, [u32; 3]) {
    let mut text = format!("slice_us = {}\n", choices.one_of(&[20, 50, 100, 200]));
    for tag in 1..=1 + choices.below(2) {
        let (vcpus, seed) = (1 + choices.below(4), choices.below(1 << 16));
        let translation = choices.one_of(&["off", "on"]);
        text += &partition(
            &format!("storm-{tag}"),
            "storm",
            vcpus,
            &format!("tag={tag} seed={seed} rounds=300 translation={translation}"),
        );
    }
    text += &partition("registers", "registers", 1, "");
    text += &partition("smp", "smp", 3, "");
    let (mode, _) = choices.one_of(&MODES);
    let seed = choices.below(1 << 16);
    let arguments = format!("mode={mode} calls=1500 seed={seed}");
    text += &partition("misbehave", "misbehave", 2, &arguments);
    text += &format!("time_limit_us = {}\n", choices.one_of(&[1_000, 4_000, 50_000]));
    (text, choices.one_of(&TOPOLOGIES))
}

fn partition(name: &str, payload: &str, vcpus: u64, arguments: &str) -> String {
    format!(
        "[[partition]]\nname = \"{name}\"\npayload = \"{payload}\"\nmemory = \"16 MiB\"\n\
         vcpus = {vcpus}\narguments = \"{arguments}\"\n"
    )
}

/// Runs system `number`.
fn try_one(number: u64, alone: &[String]) -> Result<(), String> {
    let (text, topology) = system(&mut Choices(number));
    let (transcript, findings) = watched(&on_threads(system_of(&text), topology));
    let told = |wrong: String| format!("on {topology:?}\n{text}\n{wrong}");
    check(&transcript, alone).map_err(told)?;
    if !findings.is_empty() {
        return Err(told(findings.join("\n")));
    }
    let lines = transcript.lines();
    let storms = text.matches("payload = \"storm\"").count();
    let right = lines.iter().filter(|line| line.ends_with(" rounds each, 0 wrong")).count();
    if right != storms {
        return Err(told(format!("{right} of {storms} storms are right\n{}", lines.join("\n"))));
    }
    Ok(())
}

fn main() -> ExitCode {
    let arguments = Arguments::parse();
    let now = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH);
    let first = arguments.first.unwrap_or_else(|| now.map_or(1, |now| now.as_secs()));
    let alone = victims(&watched(&harmless()).0);
    let (started, mut shown, mut tried) = (Instant::now(), Instant::now(), 0);
    while tried < arguments.count && started.elapsed().as_secs() < arguments.seconds {
        let number = first.wrapping_add(tried);
        if let Err(wrong) = try_one(number, &alone) {
            eprintln!("fuzz-machine: system {number} {wrong}");
            eprintln!("fuzz-machine: again: cargo xtask fuzz --machine --first {number} --count 1");
            return ExitCode::FAILURE;
        }
        tried += 1;
        if shown.elapsed() > PROGRESS {
            shown = Instant::now();
            let seconds = started.elapsed().as_secs();
            eprintln!("fuzz-machine: {tried} systems in {seconds} s, the next is {}", number + 1);
        }
    }
    println!("fuzz-machine: {tried} systems from {first}, nothing found");
    ExitCode::SUCCESS
}
