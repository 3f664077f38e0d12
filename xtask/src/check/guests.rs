//! Guests that nobody needs: without a program, or with one that nothing runs.

use std::collections::BTreeSet;
use std::path::Path;

use super::text::{Tree, has_extension};
use crate::workspace::Package;

/// Where what runs a program is written.
const RUNNERS: [&str; 4] = ["examples", "experiments", "tests", "lab/src/calibration"];

/// A complaint for each folder in `guests/` that makes no program and is nobody's library, and for each program that
/// no example, experiment or test names.
pub(super) fn check(packages: &[Package], tree: &Tree) -> Vec<String> {
    let guests = Path::new("guests");
    let folders = tree.paths.iter().filter(|path| {
        path.parent() == Some(guests)
            && tree.paths.iter().any(|inside| inside.parent() == Some(path))
    });
    let used: BTreeSet<&String> = packages.iter().flat_map(|package| &package.uses).collect();
    let mut complaints = Vec::new();
    for folder in folders {
        let package = packages.iter().find(|package| package.folder == *folder);
        let programs = package.map_or(&[][..], |package| &package.programs);
        if programs.is_empty() && !package.is_some_and(|package| used.contains(&package.name)) {
            complaints.push(format!("{}: a guest without a program", folder.display()));
        }
        for program in programs.iter().filter(|program| !is_named(tree, program)) {
            complaints.push(format!(
                "{}: no example, experiment or test names {program}",
                folder.display()
            ));
        }
    }
    complaints
}

fn is_named(tree: &Tree, program: &str) -> bool {
    let is_runner = |path: &Path| {
        RUNNERS.iter().any(|folder| path.starts_with(folder))
            || (has_extension(path, "rs") && path.iter().any(|part| part == "tests"))
    };
    let name = format!("\"{program}\"");
    let escaped = format!("\\\"{program}\\\"");
    let names = |text: &str| text.contains(&name) || text.contains(&escaped);
    tree.texts.iter().any(|(path, text)| is_runner(path) && names(text))
}

#[cfg(test)]
mod tests {
    use super::check;
    use crate::check::text::Tree;
    use crate::workspace::Package;

    #[test]
    fn a_guest_has_a_program_and_is_run() {
        let package = |name: &str, programs: &[&str], uses: &[&str]| Package {
            name: name.to_owned(),
            uses: uses.iter().map(|used| (*used).to_owned()).collect(),
            programs: programs.iter().map(|name| (*name).to_owned()).collect(),
            features: Vec::new(),
            folder: format!("guests/{name}").into(),
        };
        let packages = [
            package("rt", &[], &[]),
            package("hello", &["hello"], &["rt"]),
            package("fair", &["fair"], &["rt"]),
            package("orphan", &["orphan"], &["rt"]),
            package("empty", &[], &["rt"]),
        ];
        let mut tree = Tree::default();
        for path in [
            "guests/rt/a",
            "guests/hello/a",
            "guests/fair/a",
            "guests/orphan/a",
            "guests/empty/a",
            "guests/lost/a",
        ] {
            tree.paths.extend(std::path::Path::new(path).ancestors().map(Into::into));
        }
        for (path, text) in [
            ("examples/hello.toml", "payload = \"hello\""),
            ("tests/src/fair.rs", "\"payload = \\\"fair\\\"\""),
            ("docs/a.md", "\"orphan\""),
        ] {
            tree.texts.push((path.into(), text.into()));
        }
        assert_eq!(
            check(&packages, &tree),
            [
                "guests/empty: a guest without a program",
                "guests/lost: a guest without a program",
                "guests/orphan: no example, experiment or test names orphan",
            ]
        );
    }
}
