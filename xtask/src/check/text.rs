//! The tree's texts, and the anchors of its documents.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Component, Path, PathBuf};

use anyhow::{Context, Result};

use super::folders::walk;

/// Extensions of files that people write and that cite others.
const WRITTEN: [&str; 8] = ["rs", "S", "inc", "md", "toml", "ld", "yml", "py"];

/// Which files there are, and what those that people wrote say.
#[derive(Debug, Default)]
pub(super) struct Tree {
    /// Files and folders, from the root of the workspace.
    pub(super) paths: BTreeSet<PathBuf>,
    /// Path and content of each text.
    pub(super) texts: Vec<(PathBuf, String)>,
}

impl Tree {
    /// Reads the tree below `root`.
    pub(super) fn read(root: &Path) -> Result<Self> {
        let mut tree = Self::default();
        for path in walk(root)? {
            let relative = path.strip_prefix(root).unwrap_or(&path).to_owned();
            let is_makefile = relative.file_name().is_some_and(|name| name == "Makefile");
            if path.is_file() && (is_makefile || WRITTEN.iter().any(|e| has_extension(&path, e))) {
                let text = fs::read_to_string(&path)
                    .with_context(|| format!("reading {}", path.display()))?;
                tree.texts.push((relative.clone(), text));
            }
            tree.paths.insert(relative);
        }
        Ok(tree)
    }

    /// What the text at `path` says; empty if there is none.
    pub(super) fn text(&self, path: &Path) -> &str {
        self.texts.iter().find(|(other, _)| other == path).map_or("", |(_, text)| text)
    }

    /// Whether some file's path ends with these components.
    pub(super) fn has_suffix(&self, suffix: &Path) -> bool {
        self.paths.iter().any(|path| path.ends_with(suffix))
    }
}

pub(super) fn has_extension(path: &Path, extension: &str) -> bool {
    path.extension().is_some_and(|found| found == extension)
}

/// `path` without `.` and `..`.
pub(super) fn normal(path: &Path) -> PathBuf {
    let mut normal = PathBuf::new();
    for part in path.components() {
        match part {
            Component::ParentDir => drop(normal.pop()),
            Component::CurDir => (),
            part => normal.push(part),
        }
    }
    normal
}

/// Level and text of each heading of a document.
pub(super) fn headings(text: &str) -> impl Iterator<Item = (usize, &str)> {
    let mut is_code = false;
    text.lines().filter_map(move |line| {
        is_code ^= line.starts_with("```");
        let level = line.len() - line.trim_start_matches('#').len();
        let title = line[level..].strip_prefix(' ')?;
        (!is_code && level > 0).then_some((level, title))
    })
}

/// The rows of the tables below the heading `title`, up to the next heading, without their heads: the text of
/// each cell.
pub(super) fn rows<'a>(text: &'a str, title: &str) -> Vec<Vec<&'a str>> {
    let is_title = |line: &&str| line.trim_start_matches('#').trim() == title;
    let section = text.lines().skip_while(|line| !is_title(line)).skip(1);
    let section = section.take_while(|line| !line.starts_with('#'));
    let lines: Vec<&str> = section.filter(|line| line.starts_with('|')).collect();
    let cells = |line: &'a str| line.trim_matches('|').split('|').map(str::trim).collect();
    let is_head = |index: usize| {
        [index, index + 1]
            .iter()
            .any(|at| lines.get(*at).is_some_and(|line| line.starts_with("|---")))
    };
    let body = lines.iter().enumerate().filter(|(index, _)| !is_head(*index));
    body.map(|(_, line)| cells(line)).collect()
}

/// What a text has between back quotes.
pub(super) fn code_words(text: &str) -> impl Iterator<Item = &str> {
    text.split('`').skip(1).step_by(2)
}

/// The anchors of a document's headings, as GitHub makes them.
pub(super) fn anchors(text: &str) -> Vec<String> {
    let mut anchors: Vec<String> = Vec::new();
    for (_, title) in headings(text) {
        let kept = title.chars().filter(|c| c.is_alphanumeric() || " -_".contains(*c));
        let anchor = kept.collect::<String>().to_lowercase().replace(' ', "-");
        let earlier = anchors.iter().filter(|other| **other == anchor).count();
        anchors.push(if earlier == 0 { anchor } else { format!("{anchor}-{earlier}") });
    }
    anchors
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::{anchors, code_words, normal, rows};

    #[test]
    fn anchors_are_those_of_github() {
        let text =
            "# Firmware's tree\n\n### H_SET_MODE\n\n```\n# no heading\n```\n## `stop`\n## stop\n";
        assert_eq!(anchors(text), ["firmwares-tree", "h_set_mode", "stop", "stop-1"]);
    }

    #[test]
    fn a_path_loses_its_detours() {
        assert_eq!(normal(Path::new("docs/facts/../json.md")), Path::new("docs/json.md"));
        assert_eq!(normal(Path::new("./README.md")), Path::new("README.md"));
    }

    #[test]
    fn a_table_is_found_by_its_heading() {
        let text = "# A\n| x |\n|---|\n| 1 |\n## B\n\n| x | y |\n|---|---|\n| `1`, `2` | 3 |\n";
        assert_eq!(rows(text, "B"), [["`1`, `2`", "3"]]);
        assert_eq!(rows(text, "C").len(), 0);
        assert!(code_words("`1`, `2`; 3").eq(["1", "2"]));
    }
}
