//! CHANGELOG.md and CLAIMS.md, joined from a file for each subject, so that several people can add to them at once.

use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result};

use crate::claims::{FIGURES, Figures};
use crate::workspace::Workspace;

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
    /// Where its parts are, from the root.
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
        for line in
            file.is.lines().filter(|line| !file.of_parts.lines().any(|other| other == *line))
        {
            println!("{}: no part in {} has \"{line}\"", file.path, file.parts);
        }
        fs::write(workspace.root.join(file.path), &file.of_parts)
            .with_context(|| format!("writing {}", file.path))?;
    }
    Ok(())
}

/// The files that are joined.
pub(crate) fn files(root: &Path) -> Result<[Joined; 2]> {
    let read = |path: &Path| {
        fs::read_to_string(path).with_context(|| format!("reading {}", path.display()))
    };
    let file = |path: &'static str,
                parts: &'static str,
                join: fn(&str, &[String]) -> Option<String>| {
        let is = read(&root.join(path))?;
        let entries = fs::read_dir(root.join(parts)).with_context(|| format!("reading {parts}"))?;
        let mut paths: Vec<PathBuf> =
            entries.map(|entry| Ok(entry?.path())).collect::<Result<_>>()?;
        paths.sort();
        let texts = paths.iter().map(|path| read(path)).collect::<Result<Vec<_>>>()?;
        let of_parts = join(&is, &texts)
            .with_context(|| format!("{path} has no place for what is in {parts}"))?;
        anyhow::Ok(Joined { path, parts, is, of_parts })
    };
    let mut claims = file("CLAIMS.md", "docs/claims", claims)?;
    let figures = Figures::read(root)?;
    claims.of_parts =
        figures.fill(&claims.of_parts).with_context(|| format!("figures of {FIGURES}"))?;
    Ok([file("CHANGELOG.md", "docs/changes", changelog)?, claims])
}

/// `is` with the parts' entries as what is not released: by effect, then by part.
fn changelog(is: &str, parts: &[String]) -> Option<String> {
    let (before, behind) = is.split_once(UNRELEASED)?;
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
    Some(text)
}

/// `is` with the rows of the parts' tables.
fn claims(is: &str, parts: &[String]) -> Option<String> {
    let (before, _) = is.split_once(RULE)?;
    let rows = parts.iter().map(|part| Some(part.split_once(RULE)?.1.trim_end()));
    let rows = rows.collect::<Option<Vec<&str>>>()?;
    Some(format!("{before}{RULE}{}\n", rows.join("\n")))
}

#[cfg(test)]
mod tests {
    use super::{changelog, claims};

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
        assert_eq!(changelog(before, &parts).as_deref(), Some(expected));
        assert_eq!(changelog(expected, &parts).as_deref(), Some(expected));
        assert_eq!(changelog("# Changelog\n", &parts), None);
    }

    #[test]
    fn rows_are_joined_and_a_part_without_a_table_is_noticed() {
        let table = "| claim | b | c | d | e |\n|---|---|---|---|---|\n";
        let parts = ["1", "2"].map(|row| format!("# A\n\n{table}| {row} |\n"));
        let is = format!("# Claims\n\n{table}| old |\n");
        assert_eq!(claims(&is, &parts), Some(format!("# Claims\n\n{table}| 1 |\n| 2 |\n")));
        assert_eq!(claims(&is, &["# B\n".to_owned()]), None);
    }
}
