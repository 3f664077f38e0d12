//! `cargo xtask`: everything a person does with the project, one subcommand each.
//!
//! The Makefile is a table of contents over these. Each subcommand sets up what it needs, so that any
//! of them works in a fresh clone.

mod bench;
mod check;
mod dist;
mod fuzz;
mod images;
mod kvm_unit_tests;
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
mod workspace;

use std::process::ExitCode;

use clap::{Parser, Subcommand};

use workspace::Workspace;

/// What a person does with the project.
#[derive(Parser, Debug)]
#[command(name = "cargo xtask", bin_name = "cargo xtask")]
struct Arguments {
    #[command(subcommand)]
    task: Task,
}

#[derive(Subcommand, Debug, Clone)]
enum Task {
    /// Check for the programs that the others need; as root on Debian, install what is missing.
    Setup,
    /// Build the hypervisor and the payloads for the machine, into target/images.
    Images,
    /// Build everything: images and the powervisor command.
    Build,
    /// Build the powervisor command as fast as this toolchain can make it, into target/dist.
    Dist,
    /// Print what a hypercall costs on our machine, then run the same on QEMU and compare.
    Run,
    /// Everything that must hold before a push: the checks, then every test.
    Test,
    /// Fetch Debian's kernel and busybox for our machine into target/linux, and make an initramfs of them.
    Linux(linux::Arguments),
    /// Run a build of kvm-unit-tests of yours: each test as a guest of the hypervisor and on the bare machine, on ours
    /// and on QEMU, and print how each ended.
    KvmUnitTests(kvm_unit_tests::Arguments),
    /// Format, lints, the walls between the crates, and whether what a text cites is there.
    Check,
    /// Random instructions on the simulator and on QEMU, compared: `differential --help` for options.
    #[command(disable_help_flag = true)]
    Differential {
        /// What the differential test is given: --mnemonic, --cases, --seed.
        #[arg(trailing_var_arg = true, allow_hyphen_values = true)]
        arguments: Vec<String>,
    },
    /// How fast our machine and QEMU run the same image, in millions of instructions per second; what timing
    /// mode and looking cost; and where the simulator's own time goes.
    Bench(bench::Arguments),
    /// Change one thing at a time in `arch` and in the simulator; the tests must notice.
    Mutants(mutants::Arguments),
    /// A partition that does anything at all, on the fake machine, where libFuzzer looks for what breaks the
    /// hypervisor; then random partitions on our machine, while its oracle watches.
    Fuzz(fuzz::Arguments),
    /// What hardware threads hand over to each other, in every order of their steps.
    Loom(loom::Arguments),
    /// The hypervisor's portable parts under AddressSanitizer, and under Miri where that is installed.
    Sanitize,
    /// All tests, with many more random cases and orders, under sanitizers too, some fuzzing, and a sample of
    /// mutants; a summary at the end.
    Nightly,
}

fn main() -> ExitCode {
    let arguments = Arguments::parse();
    let done = Workspace::load().and_then(|workspace| match arguments.task {
        Task::Setup => setup::setup(),
        Task::Images => images::images(&workspace),
        Task::Build => images::images(&workspace).and_then(|()| run::build(&workspace).map(drop)),
        Task::Dist => dist::dist(&workspace),
        Task::Run => run::run(&workspace),
        Task::Test => test::test(&workspace),
        Task::Linux(arguments) => linux::linux(&workspace, &arguments),
        Task::KvmUnitTests(arguments) => kvm_unit_tests::kvm_unit_tests(&workspace, &arguments),
        Task::Check => check::check(&workspace),
        Task::Differential { arguments } => test::differential(&workspace, &arguments),
        Task::Bench(only) => bench::bench(&workspace, only),
        Task::Mutants(arguments) => mutants::mutants(&workspace, arguments).map(drop),
        Task::Fuzz(arguments) => fuzz::fuzz(&workspace, arguments).map(drop),
        Task::Loom(arguments) => loom::loom(&workspace, arguments),
        Task::Sanitize => sanitize::sanitize(&workspace),
        Task::Nightly => nightly::nightly(&workspace),
    });
    match done {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("xtask: {error:#}");
            ExitCode::FAILURE
        }
    }
}
