//! Who may use whom: the table of crates in ARCHITECTURE.md, compared with the real graph in both directions.
//!
//! The hypervisor and the machine meet only in `arch`: a mistake that both share would hide itself. A row of
//! the table is for one crate, for several, or, with `*`, for all in a folder that have no row of their own.

use std::path::Path;

use anyhow::{Context, Result};
use toml::Table;

use super::text::{Tree, code_words, rows};
use crate::workspace::Package;

/// Where the table is, and below which heading.
const TABLE: (&str, &str) = ("ARCHITECTURE.md", "Who may use whom");
/// A workspace of its own, which cargo does not tell of.
const FUZZ: &str = "fuzz";

/// A crate: its folder, and the folders of those that it uses.
type Crate = (String, Vec<String>);

/// A complaint for each use that the table does not allow, for each crate that it does not know, and for each
/// thing that it says and that is not so.
///
/// # Errors
/// If the manifest of the fuzz targets is no TOML.
pub(super) fn check(packages: &[Package], tree: &Tree) -> Result<Vec<String>> {
    let mut crates: Vec<Crate> =
        packages.iter().map(|package| of_package(package, packages)).collect();
    crates.extend(fuzz(tree)?);
    let rows: Vec<Row> = rows(tree.text(Path::new(TABLE.0)), TABLE.1)
        .iter()
        .filter_map(|cells| Row::new(cells))
        .collect();
    let mut complaints = Vec::new();
    let mut real: Vec<Vec<&str>> = vec![Vec::new(); rows.len()];
    for (folder, uses) in &crates {
        let own = |row: &Row| row.crates.contains(&folder.as_str());
        let shared = |row: &Row| row.crates.iter().any(|name| covers(name, folder));
        let Some(index) = rows.iter().position(own).or_else(|| rows.iter().position(shared)) else {
            complaints.push(format!("{folder}: a new crate; say in {} whom it may use", TABLE.0));
            continue;
        };
        let allowed = |used: &&String| rows[index].uses.iter().any(|name| covers(name, used));
        for used in uses.iter().filter(|used| !allowed(used)) {
            complaints
                .push(format!("{folder} must not use {used}; see \"{}\" in {}", TABLE.1, TABLE.0));
        }
        real[index].extend(uses.iter().map(String::as_str));
    }
    for (row, real) in rows.iter().zip(real) {
        let is_there = |name: &&&str| crates.iter().any(|(folder, _)| covers(name, folder));
        let is_used = |name: &&&str| real.iter().any(|folder| covers(name, folder));
        for name in row.crates.iter().filter(|name| !is_there(name)) {
            complaints.push(format!("{}: {name} has a row and is no crate", TABLE.0));
        }
        for name in row.uses.iter().filter(|name| !is_used(name)) {
            let crates = row.crates.join(", ");
            complaints.push(format!("{}: {crates} may use {name}, and does not", TABLE.0));
        }
    }
    Ok(complaints)
}

/// A row of the table.
struct Row<'a> {
    crates: Vec<&'a str>,
    uses: Vec<&'a str>,
}

impl<'a> Row<'a> {
    fn new(cells: &[&'a str]) -> Option<Self> {
        let [crates, _, uses] = cells else { return None };
        Some(Self { crates: code_words(crates).collect(), uses: code_words(uses).collect() })
    }
}

/// Whether a name in the table is this crate's, or with `*` that of a folder that it is in.
fn covers(name: &str, folder: &str) -> bool {
    name.strip_suffix('*').map_or(name == folder, |above| folder.starts_with(above))
}

fn of_package(package: &Package, packages: &[Package]) -> Crate {
    let folder = |package: &Package| package.folder.to_string_lossy().into_owned();
    let used = |name: &String| {
        let found = packages.iter().find(|other| other.name == *name);
        found.map_or_else(|| name.clone(), folder)
    };
    (folder(package), package.uses.iter().map(used).collect())
}

/// The fuzz targets, if they are there, and what their manifest has the paths of.
fn fuzz(tree: &Tree) -> Result<Option<Crate>> {
    let manifest = Path::new(FUZZ).join("Cargo.toml");
    if !tree.paths.contains(&manifest) {
        return Ok(None);
    }
    let manifest: Table = tree.text(&manifest).parse().context("parsing fuzz/Cargo.toml")?;
    let dependencies = manifest.get("dependencies").and_then(|value| value.as_table());
    let paths =
        dependencies.into_iter().flatten().filter_map(|(_, value)| value.get("path")?.as_str());
    let folder = |path: &str| path.trim_start_matches("../").to_owned();
    Ok(Some((FUZZ.to_owned(), paths.map(folder).collect())))
}

#[cfg(test)]
mod tests {
    use super::check;
    use crate::check::text::Tree;
    use crate::workspace::Package;

    const ROWS: &str = "| `arch` | facts | nothing |\n| `simulator` | the machine | `arch` |\n\
        | `hypervisor/core` | decides | `arch` |\n| `hypervisor/image` | both | `hypervisor/*` |\n\
        | `guests/rt`, `guests/*` | run time, payloads | `arch`, `guests/rt` |\n| `guests/bare` | assembly | nothing |\n";

    /// Of crates that use each other as the table says, and of these.
    fn complaints(rows: &str, others: &[(&str, &[&str])]) -> Vec<String> {
        let sound: [(&str, &[&str]); 6] = [
            ("arch", &[]),
            ("simulator", &["arch"]),
            ("hypervisor/core", &["arch"]),
            ("hypervisor/image", &["hypervisor/core"]),
            ("guests/rt", &["arch"]),
            ("guests/bare", &[]),
        ];
        let hello: (&str, &[&str]) = ("guests/hello", &["guests/rt", "arch"]);
        let package = |(folder, uses): &(&str, &[&str])| Package {
            name: folder.replace('/', "-"),
            uses: uses.iter().map(|used| used.replace('/', "-")).collect(),
            programs: Vec::new(),
            features: Vec::new(),
            folder: folder.into(),
        };
        let packages: Vec<Package> =
            sound.iter().chain([&hello]).chain(others).map(package).collect();
        let mut tree = Tree::default();
        let text =
            format!("# House\n## Who may use whom\n\n| crate | is | uses |\n|---|---|---|\n{rows}");
        tree.texts.push(("ARCHITECTURE.md".into(), text));
        check(&packages, &tree).unwrap()
    }

    #[test]
    fn what_the_table_says_is_right() {
        assert_eq!(complaints(ROWS, &[("guests/newcomer", &["arch"])]), [""; 0]);
    }

    #[test]
    fn the_hypervisor_and_the_machine_meet_only_in_arch() {
        for (name, used) in [
            ("hypervisor/core", "simulator"),
            ("simulator", "hypervisor/core"),
            ("arch", "simulator"),
            ("guests/newcomer", "hypervisor/core"),
            ("guests/bare", "guests/rt"),
        ] {
            let expected =
                format!("{name} must not use {used}; see \"Who may use whom\" in ARCHITECTURE.md");
            assert_eq!(complaints(ROWS, &[(name, &[used])]), [expected]);
        }
    }

    #[test]
    fn what_the_table_does_not_know_and_what_is_not_there_is_named() {
        assert_eq!(
            complaints(ROWS, &[("newcomer", &[])]),
            ["newcomer: a new crate; say in ARCHITECTURE.md whom it may use"]
        );
        assert_eq!(
            complaints(&format!("{ROWS}| `python` | later | nothing |\n"), &[]),
            ["ARCHITECTURE.md: python has a row and is no crate"]
        );
        assert_eq!(
            complaints(
                &ROWS.replace("the machine | `arch`", "the machine | `arch`, `guests/rt`"),
                &[]
            ),
            ["ARCHITECTURE.md: simulator may use guests/rt, and does not"]
        );
    }
}
