//! The command line.

use std::ffi::OsString;
use std::path::PathBuf;

use clap::builder::NonEmptyStringValueParser;
use clap::{ArgGroup, Args, Parser, Subcommand, ValueEnum};
use clap_complete::Shell;

use lab::ledger::difference;
use lab::setting::Setting;
use lab::size::Size;
use serde::Serialize;
use simulator::pipeline::LONGEST_QUANTUM;

use crate::failure::EXIT_STATUS_HELP;
use crate::moment::Moment;
use crate::topology::Topology;
use crate::until::{Part, Until};
use crate::whole::whole;

/// The largest number.
const MOST: u64 = u64::MAX;

/// A hypervisor for POWER and the machine it runs on.
#[derive(Parser, Debug)]
#[command(name = "powervisor", version, after_help = EXIT_STATUS_HELP, after_long_help = LONG_HELP)]
pub struct Arguments {
    /// What to do.
    #[command(subcommand)]
    pub command: Command,
}

const LONG_HELP: &str = "\
Examples; those with a file of examples/ are for a clone's folder:
  powervisor run null-hypercall
      prints what a hypercall costs, a line per variant
  powervisor run null-hypercall --format json | jq '.rows[].value'
      the same as JSON, for programs
  powervisor boot examples/hello.toml
      boots a partition on the hypervisor, on our machine
  powervisor boot examples/hello.toml --on qemu
      boots the same hypervisor and the same partition on QEMU, under real firmware
  powervisor boot examples/console.toml --console echo --log-input typed
      connects you to one partition's console and records what you type; --replay-input typed replays it
  powervisor boot examples/shared.toml --trace exits --trace-file exits --statistics
      writes a line for each exit, and at the end what each partition did
  powervisor boot examples/hello.toml --timing
      boots in timing mode, and says how many cycles the run took, who spent them and why
  powervisor boot --kernel vmlinux --symbols kallsyms --timing --explain
      boots a kernel bare on the machine, and says in which of its functions the cycles went, and why
  powervisor boot --resume prompt --symbols kallsyms --timing --warm-up 5000000 --region ksys_read --explain
      continues a machine that --save wrote, and says the same for the calls of one function
  powervisor boot examples/shared.toml --steps 1000000 --save half
      runs so many steps and saves the machine; powervisor boot --resume half goes on
  powervisor boot examples/null-hypercall.toml --until 0x4001 --save begun
      runs to where the payload's first region begins, and saves the machine
  powervisor boot examples/hello.toml --gdb 1234
      waits for gdb-multiarch, and starts when it has said `target remote localhost:1234` and `continue`
  powervisor boot --payload my-kernel.elf --memory '256 MiB' --append 'console=hvc0'
      boots your own program as a partition
  powervisor boot examples/smp.toml --suspend smp --at 40us --to smp.partition
      runs a partition for so long, and suspends it into a file
  powervisor boot examples/smp.toml --from smp.partition --topology 1x2x4
      goes on with it on another machine
  powervisor boot --kernel skiboot-payload.elf
      boots any image for OPAL firmware, bare on the machine

Exit status: 0 all went well, 1 the run went wrong, 2 a file, an argument or the host is not as
needed (one line on standard error says what), 130 interrupted, 141 nobody reads what is written any
more, as of `cat`.";

/// What the command can do.
#[derive(Subcommand, Debug)]
pub enum Command {
    /// Run an experiment and print its figures.
    Run(RunArguments),
    /// Boot partitions, or an image bare on the machine, and show the console on standard output.
    Boot(Box<BootArguments>),
    /// Write the bundle that carries a partition to the hypervisor.
    Bundle(BundleArguments),
    /// Run the same on our machine and on QEMU, and say whether console and exit reason agree.
    Compare(CompareArguments),
    /// Print what became dearer or cheaper from one report to another, largest change first.
    Diff(DiffArguments),
    /// Run micro-benchmarks and print the timing model's figures beside the published ones.
    Calibrate(CalibrateArguments),
    /// Write a folder with an experiment or a payload of your own, which builds and runs where it is.
    New(NewArguments),
    /// Run experiments over a grid of values, seeds and variants, on all cores or on a cluster. The Python
    /// package does it, which the wheel brings.
    #[command(disable_help_flag = true)]
    Sweep(PackagedArguments),
    /// Write a page with the figures, ledgers, differences and sweeps of results. The Python package does it, which the
    /// wheel brings.
    #[command(disable_help_flag = true)]
    Report(PackagedArguments),
    /// Print a machine's description or an experiment that comes with the command, to copy and change.
    Show(ShowArguments),
    /// Print a script that lets your shell complete commands and options: `powervisor completions bash > FILE`,
    /// and have the shell read FILE.
    Completions(CompletionsArguments),
    /// Print the manual: a page for each command, for `man`.
    Manual(ManualArguments),
}

/// Arguments of `run`.
#[derive(Args, Debug)]
pub struct RunArguments {
    /// The experiment: the name of one that comes with the command, such as null-hypercall, or a file.
    pub experiment: PathBuf,
    /// Run this variant alone; you can name several.
    #[arg(long, value_name = "NAME")]
    pub variant: Vec<String>,
    /// How to print the figures; docs/json.md describes the JSON, which has the ledger and every check.
    #[arg(long, value_enum, default_value_t = Format::Text)]
    pub format: Format,
    /// Run on the machine of this name (power9, power8) or description instead of the experiment's. One that comes with
    /// the command has the topology and the memory that the experiment asks for.
    #[arg(long, value_name = "MACHINE")]
    pub machine: Option<PathBuf>,
    /// Give a value of the machine's description this number or word, such as scoreboard=0; you can give several. With
    /// several numbers, as in scoreboard=0,20,40, each variant runs with each of them; several keys with several
    /// values run in all combinations, 64 runs at most.
    #[arg(long, value_name = "KEY=VALUE[,VALUE]...")]
    pub set: Vec<Setting>,
    /// Run at the values alone, and not with the guesses at their ends, which takes three times as long.
    #[arg(long, conflicts_with = "functional")]
    pub values_only: bool,
    /// Seed of the run's random choices; the same seed makes the same run.
    #[arg(long, default_value_t = 1, value_parser = whole::<u64, 0, MOST>)]
    pub seed: u64,
    /// Give up a run that is not over after this many steps, and print the registers; without this after
    /// 2,000,000,000, or 100,000,000,000 of a kernel that is no partition.
    #[arg(long, value_name = "STEPS", value_parser = whole::<u64, 0, MOST>)]
    pub limit: Option<u64>,
    /// Count instructions only: run without the timing model.
    #[arg(long)]
    pub functional: bool,
    /// Let a hardware thread run this many cycles ahead of the others, 1 to 100.
    #[arg(long, value_name = "CYCLES", default_value_t = LONGEST_QUANTUM, conflicts_with = "functional",
        value_parser = whole::<u64, 1, LONGEST_QUANTUM>)]
    pub quantum: u64,
    /// Print who spent the cycles, in which function, at which instruction, and why. If the region is short,
    /// print beside each cause how many cycles the region saves without it. JSON always has the ledger.
    #[arg(long, conflicts_with = "functional")]
    pub explain: bool,
    /// Run again with each cause above 5 % made free, and print the ledger's figure beside the change of the run.
    #[arg(long, conflicts_with = "functional")]
    pub check_causes: bool,
    /// Write each variant's folded stacks, flame graph and trace into this folder.
    #[arg(long, value_name = "DIR", conflicts_with = "functional")]
    pub out: Option<PathBuf>,
    /// Let the stacks and the flame graph of --out begin with who called, as far as calls and returns in timing
    /// mode tell.
    #[arg(long, requires = "out")]
    pub callers: bool,
}

/// How to print figures.
#[derive(ValueEnum, Clone, Copy, PartialEq, Eq, Debug)]
pub enum Format {
    /// Text, for people.
    Text,
    /// One line of JSON.
    Json,
}

/// Arguments of `boot`.
#[derive(Args, Clone, Debug)]
#[command(group = ArgGroup::new("what").required(true).args(["file", "payload", "kernel", "resume"]))]
pub struct BootArguments {
    /// A partition file, such as examples/hello.toml, a kernel file, such as examples/linux-host.toml, or a bundle.
    pub file: Option<PathBuf>,
    /// Boot this program as one partition: an ELF64 file for 64-bit Power or a flat image.
    #[arg(long, value_name = "FILE")]
    pub payload: Option<PathBuf>,
    /// Boot this image bare on the machine, as OPAL firmware starts it.
    #[arg(long, value_name = "FILE")]
    pub kernel: Option<PathBuf>,
    /// Continue a machine that --save wrote.
    #[arg(long, value_name = "FILE", conflicts_with_all = ["machine", "memory", "seed", "console"])]
    pub resume: Option<PathBuf>,
    /// Let the partition of FILE that --suspend wrote into this file go on, in place of starting. It goes on on any
    /// machine that has what it uses; its `stop` is emulated where the machine has it not.
    #[arg(long, value_name = "FILE")]
    pub from: Option<PathBuf>,
    /// Suspend this partition of FILE at the time --at, and write it into the file --to when the machine is off:
    /// its memory, its vCPUs, what it shares with the hypervisor, and interrupts that wait. Not one with devices.
    #[arg(long, value_name = "NAME", requires_all = ["at", "to"])]
    pub suspend: Option<String>,
    /// Suspend the partition so long after the partitions start, such as 250us; units are ns, us, ms and s.
    #[arg(long, value_name = "TIME", requires = "suspend")]
    pub at: Option<Moment>,
    /// Write the suspended partition into this file.
    #[arg(long, value_name = "FILE", requires = "suspend")]
    pub to: Option<PathBuf>,
    /// Give the payload or the kernel this initrd.
    #[arg(long, value_name = "FILE", conflicts_with_all = ["file", "resume"])]
    pub initrd: Option<PathBuf>,
    /// Give the payload or the kernel these arguments.
    #[arg(long, value_name = "ARGUMENTS", conflicts_with_all = ["file", "resume"], allow_hyphen_values = true)]
    pub append: Option<String>,
    /// Memory of the payload's partition [default: 256 MiB], or of the machine for a kernel.
    #[arg(long, value_name = "SIZE", conflicts_with = "file")]
    pub memory: Option<Size>,
    /// Boot on the machine of this name (power9, power8), or of this description.
    #[arg(long, value_name = "MACHINE")]
    pub machine: Option<PathBuf>,
    /// Give the machine this many chips, cores per chip and threads per core, such as 1x2x4.
    #[arg(
        long,
        value_name = "CHIPSxCORESxTHREADS",
        conflicts_with = "resume",
        allow_hyphen_values = true
    )]
    pub topology: Option<Topology>,
    /// Boot on our machine, or on QEMU.
    #[arg(long, value_enum, default_value_t = On::Simulator)]
    pub on: On,
    /// Seed of the random choices of a run on our machine; the same seed makes the same run.
    #[arg(long, default_value_t = 1, value_parser = whole::<u64, 0, MOST>)]
    pub seed: u64,
    /// Show the log of QEMU's firmware too.
    #[arg(long)]
    pub firmware_log: bool,
    /// Connect the console to this partition: standard output shows what it writes and nothing else, all other
    /// lines go to standard error, and it gets the input. Without this, and without `console` in the partition
    /// file, all lines go to standard output and the first partition gets the input.
    #[arg(long, value_name = "NAME", conflicts_with = "kernel")]
    pub console: Option<String>,
    /// Record what you type in this file, each piece with its simulated time, for --replay-input.
    #[arg(long, value_name = "FILE")]
    pub log_input: Option<PathBuf>,
    /// Take the input from a file that --log-input wrote, at the same simulated times, instead of standard input.
    #[arg(long, value_name = "FILE")]
    pub replay_input: Option<PathBuf>,
    /// Write a line of some 90 bytes for each exit of a partition, or for each instruction too.
    #[arg(long, value_enum, value_name = "WHAT")]
    pub trace: Option<Traced>,
    /// Write the trace to this file instead of standard error.
    #[arg(long, value_name = "FILE", requires = "trace")]
    pub trace_file: Option<PathBuf>,
    /// Begin the trace behind the first mark `tdi 0,r0,MARK`, or before the first instruction of a function, as --until
    /// names them. The run is fast until then.
    #[arg(long, value_name = "MARK|FUNCTION", requires = "trace")]
    pub trace_from: Option<Until>,
    /// At the end, write to standard error what each partition did: a table, or the line of JSON that
    /// docs/json.md describes, which has the ledger of a run in timing mode too. The hypervisor counts, and
    /// prints its counts when all partitions have ended.
    #[arg(long, value_enum, value_name = "FORMAT", num_args = 0..=1, default_missing_value = "text")]
    pub statistics: Option<Format>,
    /// Write that to this file, whole or not at all, instead of standard error.
    #[arg(long, value_name = "FILE", requires = "statistics")]
    pub statistics_file: Option<PathBuf>,
    /// Run in timing mode; at the end, write to standard error how many cycles passed, and who spent them and
    /// why. A machine that was saved in timing mode continues in it; any other begins with empty caches.
    #[arg(long)]
    pub timing: bool,
    /// In timing mode, leave the first N steps out of the ledger, while caches and predictors fill.
    #[arg(long, value_name = "N", value_parser = whole::<u64, 0, MOST>)]
    pub warm_up: Option<u64>,
    /// In timing mode, write to standard error who spent the cycles, in which function, at which instruction,
    /// and why: of the whole run, or of the --region.
    #[arg(long)]
    pub explain: bool,
    /// In timing mode, keep the ledger of a part of the run too: of a function's calls, from its entry to its
    /// return, or of what lies between two marks; name the first mark, such as 0x4000. Write PARTITION:FUNCTION
    /// if two programs have the function.
    #[arg(long, value_name = "FUNCTION|MARK")]
    pub region: Option<Part>,
    /// In timing mode, write folded stacks, a flame graph and the line of JSON of --statistics into this folder.
    #[arg(long, value_name = "DIR")]
    pub out: Option<PathBuf>,
    /// Let the stacks and the flame graphs of --out begin with who called, as far as calls and returns in
    /// timing mode tell. The run takes longer, and memory for each way that leads to an instruction.
    #[arg(long, requires = "out")]
    pub callers: bool,
    /// Read the symbols of the kernel, or of a partition's program, from this file: ELF with a symbol table, a
    /// System.map, or /proc/kallsyms. You can give one for each partition; an ELF file that a partition starts with
    /// brings its own.
    #[arg(long, value_name = "[PARTITION=]FILE")]
    pub symbols: Vec<String>,
    /// Stop after this many steps: instructions completed and interrupts taken. Use this for a guest that
    /// spins, or that polls for input after standard input, or the log, has ended: such a run does not end by
    /// itself, and one line says that a guest polls so.
    #[arg(long, value_name = "N", value_parser = whole::<u64, 0, MOST>)]
    pub steps: Option<u64>,
    /// Stop after the first mark `tdi 0,r0,MARK`: 0x4000 and more for the begin of a region, 0x4800 and more
    /// for its end. Or stop before the first instruction of a function, such as `panic` of Linux.
    #[arg(long, value_name = "MARK|FUNCTION")]
    pub until: Option<Until>,
    /// Stop when the console has shown this text, such as a prompt or 'Kernel panic', at most 65,536 steps later.
    #[arg(long, value_name = "TEXT", value_parser = NonEmptyStringValueParser::new())]
    pub until_console: Option<String>,
    /// Wait for gdb on this port of this host (0: any that is free), and let it look at the machine and run it, also
    /// backwards; docs/gdb.md says how. Looking changes nothing.
    #[arg(long, value_name = "PORT", value_parser = whole::<u16, 0, 65_535>, conflicts_with_all = ["trace", "steps", "until", "until_console", "region", "warm_up"])]
    pub gdb: Option<u16>,
    /// Save the machine in this file when --steps, --until, gdb's kill or Ctrl-C stops the run before its end.
    #[arg(long, value_name = "FILE")]
    pub save: Option<PathBuf>,
}

/// What a trace shows.
#[derive(ValueEnum, Clone, Copy, PartialEq, Eq, Debug)]
pub enum Traced {
    /// Exits of partitions into the hypervisor.
    Exits,
    /// Each completed instruction, disassembled, and the exits.
    Instructions,
}

/// Whose machine to run on.
#[derive(ValueEnum, Clone, Copy, PartialEq, Eq, Debug)]
pub enum On {
    /// Ours.
    Simulator,
    /// QEMU's powernv9 or powernv8 with skiboot.
    Qemu,
}

/// Arguments of `bundle`.
#[derive(Args, Debug)]
pub struct BundleArguments {
    /// The partition file.
    pub file: PathBuf,
    /// Where to write the bundle.
    #[arg(long, short, value_name = "FILE")]
    pub output: PathBuf,
}

/// Arguments of `compare`.
#[derive(Args, Debug)]
pub struct CompareArguments {
    /// Partition files and experiment files.
    #[arg(required = true)]
    pub files: Vec<PathBuf>,
    /// Give up on a machine that does not end within this many seconds.
    #[arg(long, default_value_t = 60, value_parser = whole::<u64, 0, MOST>)]
    pub timeout: u64,
    /// Compare on the machine of this name (power9, power8) or description instead of the files' own. QEMU has
    /// powernv9 and powernv8.
    #[arg(long, value_name = "MACHINE")]
    pub machine: Option<PathBuf>,
    /// Give both machines this many chips, cores per chip and threads per core; QEMU gets a core for each
    /// thread, at most 8.
    #[arg(long, value_name = "CHIPSxCORESxTHREADS", allow_hyphen_values = true)]
    pub topology: Option<Topology>,
}

/// Arguments of `diff`.
#[derive(Args, Debug)]
pub struct DiffArguments {
    /// A report that `powervisor run --format json` or `boot --statistics json` wrote.
    pub before: PathBuf,
    /// Another one, of the same experiment, or with --variants of any.
    #[arg(required_unless_present = "variants")]
    pub after: Option<PathBuf>,
    /// Compare these two variants, per call or what else the experiment's `per` says: of the one report, or the
    /// first one of the first report with the second one of the second.
    #[arg(long, num_args = 2, value_names = ["BEFORE", "AFTER"])]
    pub variants: Vec<String>,
    /// Write a flame graph of the second into this file, an SVG: red is dearer than in the first, blue is
    /// cheaper. If the reports have several variants, --variants chooses.
    #[arg(long, value_name = "FILE")]
    pub flamegraph: Option<PathBuf>,
    /// Compare lines of the ledgers by this.
    #[arg(long, value_enum, default_value_t)]
    pub by: By,
    /// How to print what changed; docs/json.md describes the JSON.
    #[arg(long, value_enum, default_value_t = Format::Text)]
    pub format: Format,
}

/// What lines of two reports are compared by. Offsets of instructions move when code changes, so by default they do
/// not count.
#[derive(ValueEnum, Serialize, Clone, Copy, PartialEq, Eq, Debug, Default)]
#[serde(rename_all = "kebab-case")]
pub enum By {
    /// By cause alone.
    Cause,
    /// By owner, function and cause.
    #[default]
    Function,
    /// By owner, function, instruction and cause.
    Instruction,
}

impl From<By> for difference::By {
    fn from(by: By) -> Self {
        match by {
            By::Cause => Self::Cause,
            By::Function => Self::Function,
            By::Instruction => Self::Instruction,
        }
    }
}

/// Arguments of `calibrate`.
#[derive(Args, Debug)]
pub struct CalibrateArguments {
    /// How to print the figures; docs/json.md describes the JSON.
    #[arg(long, value_enum, default_value_t = Format::Text)]
    pub format: Format,
    /// Calibrate the machine of this name, or of this description.
    #[arg(long, value_name = "MACHINE")]
    pub machine: Option<PathBuf>,
    /// Give a value of the machine's description this number or word, such as scoreboard=0; you can give several.
    #[arg(long, value_name = "KEY=VALUE")]
    pub set: Vec<Setting>,
    /// Run at the values alone, and not with the guesses at their ends or with half the quantum.
    #[arg(long, conflicts_with = "check")]
    pub values_only: bool,
    /// Fail if a figure misses the tolerance of its group.
    #[arg(long)]
    pub check: bool,
    /// Print curves too: latency by footprint and by pages, and the cost of siblings.
    #[arg(long)]
    pub curves: bool,
}

/// Arguments of `sweep` and `report`, which the Python package reads.
#[derive(Args, Debug)]
pub struct PackagedArguments {
    /// What to do; --help says more.
    #[arg(trailing_var_arg = true, allow_hyphen_values = true)]
    pub arguments: Vec<OsString>,
}

/// Arguments of `new`.
#[derive(Args, Debug)]
pub struct NewArguments {
    /// What to write.
    #[arg(value_enum)]
    pub what: Template,
    /// Its name, and the folder's.
    pub name: String,
    /// The language of a payload; C if you name none.
    #[arg(long, value_enum)]
    pub language: Option<Language>,
}

/// What a new payload can be written in.
#[derive(ValueEnum, Clone, Copy, PartialEq, Eq, Debug)]
pub enum Language {
    /// C.
    C,
    /// Rust, without the standard library.
    Rust,
}

/// What `new` can write.
#[derive(ValueEnum, Clone, Copy, PartialEq, Eq, Debug)]
pub enum Template {
    /// An experiment with a payload that comes with the command.
    Experiment,
    /// A payload, and the experiment that measures it.
    Payload,
}

/// Arguments of `show`.
#[derive(Args, Debug)]
pub struct ShowArguments {
    /// A machine or an experiment by name, such as power9 or null-hypercall, or a file of one. Without it, the
    /// names of all.
    pub what: Option<PathBuf>,
    /// Give a value of the machine's description this number or word, such as scoreboard=0; you can give several.
    #[arg(long, value_name = "KEY=VALUE", requires = "what")]
    pub set: Vec<Setting>,
    /// How to print it: the file, or what docs/json.md describes.
    #[arg(long, value_enum, default_value_t = Format::Text)]
    pub format: Format,
}

/// Arguments of `completions`.
#[derive(Args, Debug)]
pub struct CompletionsArguments {
    /// The shell.
    #[arg(value_enum)]
    pub shell: Shell,
}

/// Arguments of `manual`.
#[derive(Args, Debug)]
pub struct ManualArguments {
    /// Write each page into a file of this folder, such as powervisor-boot.1, instead of one page with everything to
    /// standard output.
    #[arg(long, value_name = "DIR")]
    pub out: Option<PathBuf>,
}

#[cfg(test)]
mod tests {
    use clap::{CommandFactory, Parser};

    use super::Arguments;

    #[test]
    fn the_command_line_is_consistent() {
        Arguments::command().debug_assert();
    }

    #[test]
    fn arguments_that_do_not_go_together_are_refused() {
        for line in [
            "boot",
            "boot a.toml --payload b",
            "boot --payload a --kernel b",
            "boot a.toml --initrd b",
            "boot a.toml --resume b",
            "boot --resume a --seed 2",
            "boot --resume a --memory 64MiB",
            "boot --kernel a --console b",
            "boot a.toml --trace-file b",
            "boot a.toml --trace everything",
            "boot a.toml --steps few",
            "boot a.toml --until 0x48",
            "boot a.toml --region 0x4800",
            "boot a.toml --until-console=",
            "boot a.toml --warm-up soon",
            "boot a.toml --gdb 65536",
            "boot a.toml --gdb 1234 --steps 5",
            "boot a.toml --append x",
            "boot --payload a --memory 64MB",
            "run",
            "run a.toml --quantum 0",
            "run a.toml --quantum 101",
            "run a.toml --quantum 50 --functional",
            "bundle a.toml",
            "compare",
            "diff a.json",
            "diff a.json --variants one",
            "completions tcsh",
        ] {
            let words = std::iter::once("powervisor").chain(line.split(' '));
            assert!(Arguments::try_parse_from(words).is_err(), "{line}");
        }
    }
}
