//! `cargo xtask differential`: random instructions on the simulator and on QEMU.

use std::process::ExitCode;

use arch::processor::Processor;
use clap::Parser;
use differential::{Options, Scope, USUAL_CASES, run};

/// Execute random words in random states on the simulator and on QEMU's user mode, and compare all
/// registers and the memory touched.
#[derive(Parser, Debug)]
#[command(name = "differential", bin_name = "cargo xtask differential")]
struct Arguments {
    /// The processor on both sides: POWER9 or POWER8.
    #[arg(long, value_name = "P", default_value = "POWER9", value_parser = processor)]
    processor: Processor,
    /// Compare only this instruction, by its base mnemonic, such as add, lwarx, fmadd. Without this, compare all.
    #[arg(long, value_name = "M")]
    mnemonic: Option<String>,
    /// Run this many cases for each instruction. With fewer than the default a known disagreement may not
    /// occur, which is no failure then.
    #[arg(long, value_name = "N", default_value_t = USUAL_CASES as u64, value_parser = clap::value_parser!(u64).range(1..=10_000_000))]
    cases: u64,
    /// Seed of the random cases; the same seed makes the same cases.
    #[arg(long, value_name = "S", default_value_t = 1)]
    seed: u64,
}

fn processor(name: &str) -> Result<Processor, String> {
    let known = Processor::from_name(&name.to_ascii_uppercase());
    known.ok_or_else(|| "it must be POWER9 or POWER8".to_owned())
}

/// Exit status 0 without an unexplained mismatch, 1 with one, 2 if nothing could be compared.
fn main() -> ExitCode {
    let Arguments { processor, mnemonic, cases, seed } = Arguments::parse();
    let scope = mnemonic.map_or(Scope::All, Scope::Only);
    match run(&Options { processor, scope, cases: cases as usize, seed }) {
        Ok(report) => {
            print!("{report}");
            ExitCode::from(u8::from(!report.is_clean()))
        }
        Err(error) => {
            eprintln!("differential: {error}");
            ExitCode::from(2)
        }
    }
}
