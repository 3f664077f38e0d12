//! Files that are joined from a file for each subject, so that several people can add to them at once: CHANGELOG.md,
//! CLAIMS.md, and the list of predictions. docs/hypercalls.md is made of the one list that `arch` has.

mod hypercalls;

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, ensure};
use serde::Deserialize;

use crate::figures::{Figures, PATH as FIGURES};
use crate::workspace::Workspace;
use hypercalls::hypercalls;

/// What an entry of CHANGELOG.md does to results, in the order of the file.
const EFFECTS: [&str; 3] = ["results-change", "results-identical", "format-break"];
/// The part of CHANGELOG.md that is joined; a release gives it its number and begins a new one.
const UNRELEASED: &str = "## Unreleased\n";
/// The line of CLAIMS.md behind which the rows are.
const RULE: &str = "|---|---|---|---|---|\n";

/// A file that is joined.
#[derive(Debug)]
pub(crate) struct Joined {
    /// Its path from the root.
    pub(crate) path: &'static str,
    /// Where its parts are, from the root: a folder, or one file.
    pub(crate) parts: &'static str,
    /// What it says.
    is: String,
    /// What its parts make.
    of_parts: String,
}

impl Joined {
    /// Whether it is what its parts make.
    pub(crate) fn is_fresh(&self) -> bool {
        self.is == self.of_parts
    }
}

/// Writes the files that are joined, and prints what that takes out of them: an entry that somebody wrote into the
/// file itself belongs into a part.
pub(crate) fn join(workspace: &Workspace) -> Result<()> {
    for file in files(&workspace.root)? {
        // A figure that changed is no entry that is lost.
        let words = |line: &str| line.chars().filter(|c| c.is_alphabetic()).collect::<String>();
        let kept: BTreeSet<String> = file.of_parts.lines().map(words).collect();
        for line in file.is.lines().filter(|line| !kept.contains(&words(line))) {
            println!("{}: no part in {} has \"{line}\"", file.path, file.parts);
        }
        fs::write(workspace.root.join(file.path), &file.of_parts)
            .with_context(|| format!("writing {}", file.path))?;
    }
    Ok(())
}

/// The files that are joined.
pub(crate) fn files(root: &Path) -> Result<[Joined; 5]> {
    let read = |path: &Path| {
        fs::read_to_string(path).with_context(|| format!("reading {}", path.display()))
    };
    let file = |path: &'static str,
                parts: &'static str,
                join: fn(&str, &[String], &str) -> Result<String>| {
        let is = read(&root.join(path))?;
        let mut paths = vec![root.join(parts)];
        if paths[0].is_dir() {
            let entries = fs::read_dir(&paths[0]).with_context(|| format!("reading {parts}"))?;
            paths = entries.map(|entry| Ok(entry?.path())).collect::<Result<Vec<PathBuf>>>()?;
            paths.sort();
        }
        let texts = paths.iter().map(|path| read(path)).collect::<Result<Vec<_>>>()?;
        let of_parts =
            join(&is, &texts, parts).with_context(|| format!("joining {path} of {parts}"))?;
        anyhow::Ok(Joined { path, parts, is, of_parts })
    };
    let mut claims = file("CLAIMS.md", "docs/claims", |is, parts, _| claims(is, parts))?;
    let figures = Figures::read(root)?;
    claims.of_parts =
        figures.fill(&claims.of_parts).with_context(|| format!("figures of {FIGURES}"))?;
    Ok([
        file("CHANGELOG.md", "docs/changes", |is, parts, _| changelog(is, parts))?,
        claims,
        file("calibration/predicted.toml", "calibration/power9", predicted)?,
        file("calibration/predicted-power8.toml", "calibration/power8", predicted)?,
        file("docs/hypercalls.md", "arch/src/papr.rs", |is, parts, _| hypercalls(is, parts))?,
    ])
}

/// `is` with the parts' entries as what is not released: by effect, then by part.
fn changelog(is: &str, parts: &[String]) -> Result<String> {
    let (before, behind) = is.split_once(UNRELEASED).context("it has no unreleased part")?;
    let mut text = format!("{before}{UNRELEASED}");
    for effect in EFFECTS {
        let sections = parts.iter().filter_map(|part| part.split_once(&format!("\n## {effect}\n")));
        let entries =
            sections.map(|(_, section)| section.split("\n## ").next().unwrap_or_default());
        let entries: Vec<&str> = entries.map(str::trim).collect();
        if !entries.is_empty() {
            text.push_str(&format!("\n### {effect}\n\n{}\n", entries.join("\n")));
        }
    }
    if let Some(released) = behind.find("\n## ") {
        text.push_str(&behind[released..]);
    }
    Ok(text)
}

/// `is` with the rows of the parts' tables.
fn claims(is: &str, parts: &[String]) -> Result<String> {
    let rows_of = |text| str::split_once(text, RULE).context("a file has no table of claims");
    let (before, _) = rows_of(is)?;
    let rows = parts.iter().map(|part| Ok(rows_of(part)?.1.trim_end()));
    let rows = rows.collect::<Result<Vec<&str>>>()?;
    Ok(format!("{before}{RULE}{}\n", rows.join("\n")))
}

/// What the list of predictions begins with.
const PREDICTED: &str = "\
# The rows of FOLDER/ whose published figure set nothing when they were listed, by name. Joined by
# `cargo xtask join` from the key `listed` of rows and of what was withdrawn.
#
# `powervisor calibrate` counts them: a row that is met by a prediction is one of these, is still `predicted`, and is
# within its group. A row stays here when it becomes fitted, and counts as not met then: `cargo xtask join` takes no name
# out. `first` are those of the commit that began this list; one that is met since takes nothing away from the others.
# `added` are later ones.
";

/// What says of a row that it is one of the predictions.
#[derive(Deserialize)]
struct Listed {
    name: String,
    listed: Option<String>,
}

/// A file of published figures, as far as it matters here.
#[derive(Deserialize)]
struct Rows {
    #[serde(default)]
    row: Vec<Listed>,
    #[serde(default)]
    withdrawn: Vec<Listed>,
}

/// The list of predictions.
#[derive(Deserialize)]
struct Predicted {
    first: Vec<String>,
    added: Vec<String>,
}

/// The names that the parts list. A name that `is` has and no part is an error: a prediction that failed stays one.
fn predicted(is: &str, parts: &[String], folder: &str) -> Result<String> {
    let before: Predicted = toml::from_str(is)?;
    let mut now = Vec::new();
    for part in parts {
        let Rows { row, withdrawn } = toml::from_str(part)?;
        let listed = row.into_iter().chain(withdrawn);
        now.extend(listed.filter_map(|row| Some((row.listed?, row.name))));
    }
    let mut text = PREDICTED.replace("FOLDER", folder);
    for (when, before) in [("first", &before.first), ("added", &before.added)] {
        let names: Vec<&String> =
            now.iter().filter(|(listed, _)| listed == when).map(|(_, name)| name).collect();
        for name in before {
            ensure!(
                names.contains(&name),
                "`{name}` was listed as a prediction ({when}) and is not any more; keep `listed = \"{when}\"` with its row, \
                 or move it to `[[withdrawn]]` with a reason"
            );
        }
        text.push_str(&format!("\n{when} = [\n"));
        names.iter().for_each(|name| text.push_str(&format!("    {name:?},\n")));
        text.push_str("]\n");
    }
    Ok(text)
}

#[cfg(test)]
mod tests {
    use super::{PREDICTED, changelog, claims, predicted};

    #[test]
    fn entries_are_joined_by_effect_and_releases_stay() {
        let parts = [
            "# A\n\n## results-change\n\n- a\n  b\n\n## format-break\n\n- c\n".to_owned(),
            "# B\n\n## results-change\n\n- d\n".to_owned(),
        ];
        let before =
            "# Changelog\n\n## Unreleased\n\n### results-change\n\n- old\n\n## 0.1.0\n\n- first\n";
        let expected = "# Changelog\n\n## Unreleased\n\n### results-change\n\n- a\n  b\n- d\n\n\
                        ### format-break\n\n- c\n\n## 0.1.0\n\n- first\n";
        assert_eq!(changelog(before, &parts).unwrap(), expected);
        assert_eq!(changelog(expected, &parts).unwrap(), expected);
        assert!(changelog("# Changelog\n", &parts).is_err());
    }

    #[test]
    fn rows_are_joined_and_a_part_without_a_table_is_noticed() {
        let table = "| claim | b | c | d | e |\n|---|---|---|---|---|\n";
        let parts = ["1", "2"].map(|row| format!("# A\n\n{table}| {row} |\n"));
        let is = format!("# Claims\n\n{table}| old |\n");
        assert_eq!(claims(&is, &parts).unwrap(), format!("# Claims\n\n{table}| 1 |\n| 2 |\n"));
        assert!(claims(&is, &["# B\n".to_owned()]).is_err());
    }

    #[test]
    fn the_list_of_predictions_grows_and_loses_nothing() {
        let row =
            |name: &str, rest: &str| format!("[[row]]\nname = \"{name}\"\ncase = \"x\"\n{rest}\n");
        let one = row("a", "listed = \"first\"") + &row("b", "");
        let two = "[[withdrawn]]\nname = \"c\"\nlisted = \"added\"\nwhy = \"x\"\n".to_owned();
        let before = "first = [\"a\"]\nadded = []\n";
        let listed = PREDICTED.replace("FOLDER", "a/b");
        let joined = predicted(before, &[one.clone(), two.clone()], "a/b").unwrap();
        assert_eq!(
            joined,
            format!("{listed}\nfirst = [\n    \"a\",\n]\n\nadded = [\n    \"c\",\n]\n")
        );
        for parts in
            [vec![one.clone()], vec![two.clone()], vec![one.replace("first", "added"), two]]
        {
            let error = predicted(&joined, &parts, "a/b").unwrap_err().to_string();
            assert!(error.contains("was listed as a prediction"), "{error}");
        }
    }
}
