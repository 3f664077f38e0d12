//! `cargo xtask`: what a person does with the project, a subcommand for each.
//!
//! The Makefile is a table of contents over these. Each subcommand sets up what it needs, so that any
//! of them works in a fresh clone.

mod bench;
mod check;
mod claims;
mod dist;
mod figures;
mod fuzz;
mod images;
mod join;
mod kvm_unit_tests;
mod layouts;
mod linux;
mod loom;
mod mutants;
mod nightly;
mod outcome;
mod run;
mod sanitize;
mod setup;
mod test;
mod toolchain;
mod wheel;
mod workspace;

use std::process::ExitCode;

use clap::{Parser, Subcommand};

use workspace::Workspace;

/// Set up, build, run, test, check and measure the project.
#[derive(Parser, Debug)]
#[command(name = "cargo xtask", bin_name = "cargo xtask")]
struct Arguments {
    #[command(subcommand)]
    task: Task,
}

#[derive(Subcommand, Debug, Clone)]
enum Task {
    /// Look for the programs that the other tasks need; as root on Debian, install those that are missing.
    Setup,
    /// Build the hypervisor and the payloads into target/images.
    Images,
    /// Build everything: images and the powervisor command.
    Build,
    /// Build the powervisor command as fast as this toolchain can make it, into target/dist.
    Dist,
    /// Build the Python wheel with the command, its images, machines and experiments, into target/wheel; or test it.
    Wheel {
        /// Check the package and run its tests, as installed from the wheel.
        #[arg(long)]
        test: bool,
    },
    /// Print what a hypercall costs on our machine, then run the same on QEMU and compare.
    Run,
    /// Run all checks, then all tests, as continuous integration does.
    Test,
    /// Fetch Debian's kernel and busybox for our machine into target/linux, and make an initramfs with busybox.
    Linux(linux::Arguments),
    /// Run your build of kvm-unit-tests: each test as a guest of the hypervisor and on the bare machine, on our machine
    /// and on QEMU. Print how each ended.
    KvmUnitTests(kvm_unit_tests::Arguments),
    /// Check format and lints, who imports whom, where unsafe code is, whether the documents' tables are those
    /// of the code, whether every citation resolves, and whether the joined files are as new as their parts.
    Check,
    /// Join CHANGELOG.md from docs/changes, CLAIMS.md from docs/claims, the lists of predictions from
    /// calibration, and docs/hypercalls.md from arch.
    Join,
    /// Measure the figures of CLAIMS.md and of the README's quoted outputs again, and write those that changed.
    Claims(claims::Arguments),
    /// Run an experiment with images whose functions lie elsewhere, and print how far its figures hang on that.
    Layouts(layouts::Arguments),
    /// Run random instructions on the simulator and on QEMU, and compare; `differential --help` lists options.
    #[command(disable_help_flag = true)]
    Differential {
        /// Options of the comparison: --mnemonic, --cases, --seed.
        #[arg(trailing_var_arg = true, allow_hyphen_values = true)]
        arguments: Vec<String>,
    },
    /// Measure how fast our machine and QEMU run the same image, in millions of instructions per second, and
    /// what timing mode and observers cost; then profile the simulator.
    Bench(bench::Arguments),
    /// Mutants: change `arch` and the simulator in one place at a time, and run the tests, which must notice it.
    Mutants(mutants::Arguments),
    /// Fuzz: let libFuzzer look for a partition that breaks the hypervisor on the fake machine; then run random
    /// partitions on our machine, watched by its oracle.
    Fuzz(fuzz::Arguments),
    /// Loom: run hand-overs between hardware threads in all interleavings.
    Loom(loom::Arguments),
    /// Run the tests of the hypervisor's portable parts under AddressSanitizer, and under Miri if it is installed.
    Sanitize,
    /// Run all tests with many more random cases and interleavings, sanitizers, some fuzzing and a sample of
    /// mutants, and print a summary.
    Nightly(nightly::Arguments),
}

fn main() -> ExitCode {
    let arguments = Arguments::parse();
    let done = Workspace::load().and_then(|workspace| match arguments.task {
        Task::Setup => setup::setup(),
        Task::Images => images::images(&workspace),
        Task::Build => images::images(&workspace).and_then(|()| run::build(&workspace).map(drop)),
        Task::Dist => dist::dist(&workspace),
        Task::Wheel { test: true } => wheel::test(&workspace),
        Task::Wheel { test: false } => wheel::wheel(&workspace).map(drop),
        Task::Run => run::run(&workspace),
        Task::Test => test::test(&workspace),
        Task::Linux(arguments) => linux::linux(&workspace, &arguments),
        Task::KvmUnitTests(arguments) => kvm_unit_tests::kvm_unit_tests(&workspace, &arguments),
        Task::Check => check::check(&workspace),
        Task::Join => join::join(&workspace),
        Task::Claims(arguments) => claims::claims(&workspace, arguments),
        Task::Layouts(arguments) => layouts::layouts(&workspace, &arguments),
        Task::Differential { arguments } => test::differential(&workspace, &arguments),
        Task::Bench(only) => bench::bench(&workspace, only),
        Task::Mutants(arguments) => mutants::mutants(&workspace, arguments).map(drop),
        Task::Fuzz(arguments) => fuzz::fuzz(&workspace, arguments).map(drop),
        Task::Loom(arguments) => loom::loom(&workspace, arguments),
        Task::Sanitize => sanitize::sanitize(&workspace),
        Task::Nightly(arguments) => nightly::nightly(&workspace, &arguments),
    });
    match done {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("xtask: {error:#}");
            ExitCode::FAILURE
        }
    }
}
