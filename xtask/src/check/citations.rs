//! Whether what a text cites is there: links of documents, paths of files, entries of `docs/facts`, and targets of the
//! Makefile.

use std::path::Path;

use super::text::{Tree, anchors, has_extension, normal};

/// Where the names of other projects' documents are explained; nothing that it names is ours.
const SOURCES: &str = "docs/facts/sources.md";
/// The tests of the checks cite what is not there.
const CHECKS: &str = "xtask/src/check";
/// The facts name files of other projects.
const FACTS: &str = "docs/facts";
/// A file of this kind that a text names has to be there.
const CITED: [&str; 4] = ["md", "rs", "toml", "S"];
/// Linux's files begin as ours do.
const FOREIGN: &str = "arch/powerpc/";

/// A complaint for each citation that leads nowhere.
pub(super) fn check(tree: &Tree) -> Vec<String> {
    let mut complaints = Vec::new();
    for (path, text) in tree.texts.iter().filter(|(path, _)| !path.starts_with(CHECKS)) {
        let mut is_example = false;
        for (index, line) in text.lines().enumerate() {
            is_example ^= line.starts_with("```");
            let links = links(line).map(|link| follow(tree, path, link));
            let names = names(line).map(|name| find(tree, path, name, is_example));
            let mentions = mentions(path, line).map(|name| mention(tree, name));
            let targets = targets(line).map(|name| target(tree, name));
            for wrong in links.chain(names).chain(mentions).chain(targets).filter_map(Result::err) {
                complaints.push(format!("{}:{}: {wrong}", path.display(), index + 1));
            }
        }
    }
    complaints.dedup();
    complaints
}

/// The targets of a line's Markdown links.
fn links(line: &str) -> impl Iterator<Item = &str> {
    line.split("](").skip(1).filter_map(|rest| rest.split_once(')')).map(|(target, _)| target)
}

/// Whether a document's link leads somewhere. Other texts have no links: what looks like one is code.
fn follow(tree: &Tree, citing: &Path, link: &str) -> Result<(), String> {
    if !has_extension(citing, "md") || link.contains("://") {
        return Ok(());
    }
    let (path, anchor) = split(link);
    let target = match path {
        "" => citing.to_owned(),
        path => normal(&citing.parent().unwrap_or(citing).join(path)),
    };
    if !tree.paths.contains(&target) {
        return Err(format!("the link to {link} leads nowhere"));
    }
    has_anchor(tree, &target, anchor)
}

/// The words of a line that are a file's name, with an anchor or without.
fn names(line: &str) -> impl Iterator<Item = &str> {
    let is_part = |c: char| c.is_ascii_alphanumeric() || "_-./#".contains(c);
    line.split(move |c| !is_part(c)).map(|word| word.trim_end_matches(['.', '#'])).filter(|word| {
        let path = Path::new(split(word).0);
        CITED.iter().any(|extension| has_extension(path, extension))
            && !word.starts_with(['.', '/'])
    })
}

/// Whether the file that a text names is there: from the root, or from one of the folders that the text is in.
///
/// A name without a folder of ours is looked at in documents only, outside of their examples, and may be the
/// end of a path; in capitals it stands for any file. A document of that name is explained among the sources,
/// or ours.
fn find(tree: &Tree, citing: &Path, name: &str, is_example: bool) -> Result<(), String> {
    let (path, anchor) = split(name);
    let path = Path::new(path);
    let above = citing.ancestors().skip(1).map(|folder| normal(&folder.join(path)));
    if let Some(found) = above.into_iter().find(|path| tree.paths.contains(path)) {
        return has_anchor(tree, &found, anchor);
    }
    if citing == Path::new(SOURCES) {
        return Ok(());
    }
    let is_single = path.iter().count() == 1;
    let folder = Path::new(path.iter().next().unwrap_or_default());
    let is_ours = !is_single && tree.paths.contains(folder) && !path.starts_with(FOREIGN);
    let is_prose = has_extension(citing, "md") && !citing.starts_with(FACTS) && !is_example;
    let stem = path.file_stem().unwrap_or_default().to_string_lossy();
    let stands_for_any = is_single && !stem.contains(char::is_lowercase);
    let is_there = if is_ours {
        false
    } else if has_extension(path, "md") {
        tree.has_suffix(path) || tree.text(Path::new(SOURCES)).contains(name)
    } else {
        !is_prose || stands_for_any || tree.has_suffix(path)
    };
    if is_there { Ok(()) } else { Err(format!("{name} is not there")) }
}

/// The Rust files that a comment of a Rust file names.
fn mentions<'a>(citing: &Path, line: &'a str) -> impl Iterator<Item = &'a str> {
    let is_code = |before: &str| !before.is_empty() && !before.ends_with(' ');
    let comment = line.split_once("//").filter(|(before, _)| !is_code(before));
    let comment =
        comment.filter(|_| has_extension(citing, "rs")).map_or("", |(_, comment)| comment);
    names(comment).filter(|name| has_extension(Path::new(name), "rs"))
}

/// Whether there is a file whose path ends with what a comment says.
fn mention(tree: &Tree, name: &str) -> Result<(), String> {
    if tree.has_suffix(Path::new(name)) { Ok(()) } else { Err(format!("{name} is not there")) }
}

/// What a line has `make` make: in back quotes, at a prompt, or in a step of continuous integration.
fn targets(line: &str) -> impl Iterator<Item = &str> {
    let quoted = line.split("`make ").skip(1);
    let run = ["$ make ", "run: make "].into_iter().filter_map(|prompt| line.split_once(prompt));
    let rest = quoted.chain(run.map(|(_, rest)| rest));
    rest.map(|rest| rest.split(|c: char| !c.is_ascii_graphic() || c == '`').next().unwrap_or(rest))
        .filter(|word| word.chars().all(|c| c.is_ascii_lowercase() || c == '-'))
}

/// Whether the Makefile has this target.
fn target(tree: &Tree, name: &str) -> Result<(), String> {
    let targets = tree.text(Path::new("Makefile")).lines().filter_map(|line| line.split_once(':'));
    if targets.into_iter().any(|(target, _)| target == name) {
        Ok(())
    } else {
        Err(format!("make has no target {name}"))
    }
}

fn has_anchor(tree: &Tree, path: &Path, anchor: Option<&str>) -> Result<(), String> {
    match anchor {
        Some(anchor) if !anchors(tree.text(path)).iter().any(|found| found == anchor) => {
            Err(format!("{} has no #{anchor}", path.display()))
        }
        _ => Ok(()),
    }
}

fn split(citation: &str) -> (&str, Option<&str>) {
    citation.split_once('#').map_or((citation, None), |(path, anchor)| (path, Some(anchor)))
}

#[cfg(test)]
mod tests {
    use super::check;
    use crate::check::text::Tree;

    /// A small tree in which one more file says `text`.
    fn complaints(path: &str, text: &str) -> Vec<String> {
        let texts = [
            ("docs/facts/core.md", "# Core\n\n### Scoreboard\n"),
            ("docs/facts/sources.md", "GCC's model is `gcc/power9.md`.\n"),
            ("arch/src/papr.rs", ""),
            ("arch/src/lib.rs", ""),
            ("Makefile", ".PHONY: test\ntest:   ## all tests\n"),
            (path, text),
        ];
        let mut tree = Tree::default();
        for (path, text) in texts {
            tree.paths.extend(std::path::Path::new(path).ancestors().map(Into::into));
            tree.texts.push((path.into(), text.into()));
        }
        check(&tree)
    }

    #[test]
    fn a_citation_that_resolves_is_no_complaint() {
        for (path, text) in [
            ("arch/src/a.rs", "/// Why (`docs/facts/core.md#scoreboard`)."),
            ("arch/src/a.rs", "//! Source: `docs/facts/core.md`; `arch/powerpc/kernel/head.S`."),
            ("arch/src/a.rs", "// GCC's power9.md has 5; see `lib.rs` of another crate."),
            ("calibration/a.toml", "source = \"GCC power9.md: 5 and 6\""),
            (
                "docs/a.md",
                "[core](facts/core.md#scoreboard), `papr.rs`, `arch/src/papr.rs`, `machines/*.toml`",
            ),
            ("docs/facts/b.md", "[here](#b) and [there](core.md), Linux's `head.S`\n# B\n"),
            ("README.md", "[up](https://example.org/none.md#x); `powervisor run FILE.toml`"),
            ("docs/a.md", "```\n$ cat a > free.toml\n```"),
            ("arch/tests/objdump.rs", "// See `src/papr.rs`."),
            ("arch/src/a.rs", "let a = \"models.rs\"; // as `arch/src/papr.rs` has it"),
            (
                "docs/a.md",
                "`make test` and `make ARCH=powerpc`; make sure of it\n```\n$ make test\n```",
            ),
            ("python/a.py", "# See docs/facts/core.md#scoreboard."),
        ] {
            assert_eq!(complaints(path, text), [""; 0], "{text}");
        }
    }

    #[test]
    fn a_citation_that_leads_nowhere_is_one() {
        for (path, text) in [
            ("arch/src/a.rs", "/// Why (`docs/facts/core.md#scorebord`)."),
            ("arch/src/a.rs", "//! Source: `docs/facts/memory.md`."),
            ("arch/src/a.rs", "//! Source: `kvm-hv.md` 1.5."),
            ("arch/src/a.rs", "// Decided in `arch/src/hypercall.rs`."),
            ("machines/a.toml", "# docs/facts/core.md#lines says more"),
            ("docs/a.md", "[core](core.md)"),
            ("docs/a.md", "[core](facts/core.md#lines)"),
            ("docs/a.md", "`hypercall.rs` and `papr.rs`"),
            ("docs/a.md", "```\n$ cat arch/src/hypercall.rs\n```"),
            ("docs/facts/b.md", "[here](#c)\n# B\n"),
            ("arch/src/a.rs", "//! Tried in `models.rs`."),
            ("arch/src/a.rs", "let a = 1; // as `facts/papr.rs` has it"),
            ("arch/src/a.rs", "//! It needs `make images`."),
            ("docs/a.md", "```\n$ make images\n```"),
            (".github/a.yml", "  - run: make images"),
            ("python/a.py", "# See docs/facts/memory.md."),
        ] {
            assert_eq!(complaints(path, text).len(), 1, "{text}");
        }
    }
}
