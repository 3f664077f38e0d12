//! `cargo xtask kvm-unit-tests`: the test suite that KVM is tested with, on our hypervisor and on our machine.
//!
//! A build of it is the user's own, with nothing changed; nothing of it is committed. QEMU judges: its
//! pseries machine the tests as guests, its powernv9 the tests on the bare machine.

mod listing;
mod outcome;
mod place;
mod talk;

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail, ensure};

use crate::images::images;
use crate::run::build;
use crate::workspace::Workspace;
use listing::Test;
use outcome::Outcome;
use place::Place;

const HELP: &str = "\
Build the suite first, in any folder:
  git clone https://gitlab.com/kvm-unit-tests/kvm-unit-tests
  cd kvm-unit-tests
  ./configure --arch=ppc64 --endian=little --cross-prefix=powerpc64le-linux-gnu-
  make
--endian=big builds the other byte order with the same compiler. Debian's package of it is gcc-powerpc64le-linux-gnu.

Places:
  pseries      QEMU's pseries with a POWER9: the judge of guests
  guest        a partition of PowerVisor on our machine
  qemu-guest   a partition of PowerVisor on QEMU's powernv9
  qemu-bare    QEMU's powernv9 without a hypervisor: the judge of the bare machine
  bare         our machine without a hypervisor

If a test asks for migration, a guest on our machine is saved, and resumed in another process. No other place migrates it.";

/// What to run.
#[derive(clap::Args, Clone, Debug)]
#[command(after_help = HELP)]
pub(crate) struct Arguments {
    /// The folder of the build, which has config.mak and powerpc/*.elf.
    folder: PathBuf,
    /// Run only this test, by its name in unittests.cfg; you can give several.
    #[arg(long, value_name = "NAME")]
    test: Vec<String>,
    /// Run only in this place; you can give several.
    #[arg(long = "in", value_enum, value_name = "PLACE")]
    places: Vec<Place>,
    /// Refuse a build of the other byte order.
    #[arg(long, value_enum)]
    endian: Option<Endian>,
    /// Give each test this many processors, instead of the number in unittests.cfg.
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=8))]
    vcpus: Option<u32>,
    /// End a run after this many seconds.
    #[arg(long, value_name = "SECONDS", default_value_t = 300)]
    timeout: u64,
}

/// A byte order.
#[derive(clap::ValueEnum, Clone, Copy, PartialEq, Eq, Debug)]
enum Endian {
    /// Little-endian.
    Little,
    /// Big-endian.
    Big,
}

/// A folder with a build.
#[derive(Debug)]
pub(crate) struct Build {
    folder: PathBuf,
    /// Where its sources are.
    sources: PathBuf,
    endian: Endian,
}

impl Build {
    fn open(folder: &Path) -> Result<Self> {
        let what = format!("{} is no build of kvm-unit-tests", folder.display());
        let wanted =
            "configure it with --arch=ppc64 and run make (`cargo xtask kvm-unit-tests --help`)";
        let folder = folder.canonicalize().with_context(|| format!("{what}: {wanted}"))?;
        let settings = fs::read_to_string(folder.join("config.mak"));
        let settings = settings.with_context(|| format!("{what}: no config.mak; {wanted}"))?;
        let settings: BTreeMap<&str, &str> =
            settings.lines().filter_map(|line| line.split_once('=')).collect();
        let setting = |key: &str| settings.get(key).copied().unwrap_or_default();
        ensure!(
            setting("ARCH") == "ppc64",
            "{what} for ppc64 but for `{}`; {wanted}",
            setting("ARCH")
        );
        let endian = match setting("ENDIAN") {
            "little" => Endian::Little,
            "big" => Endian::Big,
            other => bail!("{what}: config.mak says ENDIAN={other}; {wanted}"),
        };
        let sources = folder.join(setting("SRCDIR"));
        Ok(Self { folder, sources, endian })
    }

    /// A file of the build.
    fn program(&self, name: &str) -> Result<PathBuf> {
        let path = self.folder.join("powerpc").join(name);
        ensure!(path.is_file(), "{} is missing; run make in the build's folder", path.display());
        Ok(path)
    }
}

/// Runs all that is asked for and prints the table; fails if a test fails in our place that passes with its judge.
pub(crate) fn kvm_unit_tests(workspace: &Workspace, arguments: &Arguments) -> Result<()> {
    let suite = Build::open(&arguments.folder)?;
    if let Some(endian) = arguments.endian.filter(|endian| *endian != suite.endian) {
        bail!("the build is {:?}-endian and not {endian:?}-endian", suite.endian);
    }
    let mut tests = listing::read(&suite.sources.join("powerpc/unittests.cfg"))?;
    for name in &arguments.test {
        if !tests.iter().any(|test| test.name == *name) {
            let names: Vec<&str> = tests.iter().map(|test| test.name.as_str()).collect();
            bail!("no test is called `{name}`; there are {}", names.join(", "));
        }
    }
    tests.retain(|test| arguments.test.is_empty() || arguments.test.contains(&test.name));
    for test in &mut tests {
        if let Some(vcpus) = arguments.vcpus {
            test.processors = vcpus;
            test.topology = vcpus.to_string();
        }
        suite.program(&test.file)?;
    }
    let places = match arguments.places.as_slice() {
        [] => Place::ALL.to_vec(),
        asked => asked.to_vec(),
    };
    images(workspace)?;
    build(workspace)?;
    let folder = workspace.target.join("kvm-unit-tests");
    fs::create_dir_all(&folder)?;

    let mut rows = Vec::new();
    for test in &tests {
        let mut row = Vec::new();
        for &place in &places {
            let started = Instant::now();
            let timeout = Duration::from_secs(arguments.timeout);
            let outcome = place.run(workspace, &suite, &folder, test, timeout)?;
            let seconds = started.elapsed().as_secs_f64();
            eprintln!("{} in {place}: {} after {seconds:.1} s", test.name, outcome.word());
            row.push((place, outcome));
        }
        rows.push((test, row));
    }
    print(&places, &rows);
    let misses: usize = rows.iter().map(|(_, row)| misses(row)).sum();
    ensure!(misses == 0, "{misses} that pass with their judge do not here");
    Ok(())
}

/// How many places of ours are worse than their judge.
fn misses(row: &[(Place, Outcome)]) -> usize {
    let passes = |judge: Place| row.contains(&(judge, Outcome::Passed));
    let is_miss = |(place, outcome): &&(Place, Outcome)| {
        outcome.is_bad() && place.judge().is_some_and(passes)
    };
    row.iter().filter(is_miss).count()
}

fn print(places: &[Place], rows: &[(&Test, Vec<(Place, Outcome)>)]) {
    print!("{:<32}", "test");
    places.iter().for_each(|place| print!("{:<12}", place.to_string()));
    println!();
    for (test, row) in rows {
        print!("{:<32}", test.name);
        row.iter().for_each(|(_, outcome)| print!("{:<12}", outcome.word()));
        println!();
    }
    println!();
    for (test, row) in rows {
        for (place, outcome) in row {
            if !matches!(outcome, Outcome::Passed | Outcome::NotRun(_)) {
                println!("{} in {place}: {}: {outcome}", test.name, outcome.word());
            }
        }
    }
}
