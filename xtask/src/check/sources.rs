//! Whether every fact has its source, and every abbreviation of a source is explained.
//!
//! `docs/facts/sources.md` has a heading for each source; a word in capitals that is none stands in
//! `docs/glossary.md`.

use std::path::Path;

use super::text::{Tree, headings};

const SOURCES: &str = "docs/facts/sources.md";
const GLOSSARY: &str = "docs/glossary.md";
/// Folders with values and rules that say where they are from.
const VALUES: [&str; 4] = ["machines", "calibration", "experiments", "tests/conformance/rules"];
/// How far an entry of `docs/facts` is to be trusted.
const CONFIDENCE: [&str; 5] = ["published", "second-hand", "measured", "derived", "guess"];

/// A complaint for each value and each fact whose source is not explained.
pub(super) fn check(tree: &Tree) -> Vec<String> {
    let known = Known::of(tree);
    let mut complaints = Vec::new();
    for (path, text) in &tree.texts {
        let folder = path.parent().unwrap_or(path);
        if VALUES.iter().any(|values| path.starts_with(values)) {
            for (index, line) in text.lines().enumerate() {
                for wrong in
                    source_of(line).into_iter().flat_map(|source| known.unexplained(source))
                {
                    complaints.push(format!("{}:{}: {wrong}", path.display(), index + 1));
                }
            }
        }
        if folder == Path::new(SOURCES).parent().unwrap_or(folder) && path != Path::new(SOURCES) {
            for (title, body) in entries(text) {
                if let Err(wrong) = known.entry(body) {
                    complaints.push(format!("{}, {title}: {wrong}", path.display()));
                }
            }
        }
    }
    complaints
}

/// What is explained.
struct Known<'a> {
    /// Sources, by their headings.
    sources: Vec<&'a str>,
    /// Their text, which has dates and commits.
    text: &'a str,
    /// Words in capitals that are no sources.
    words: Vec<&'a str>,
}

impl<'a> Known<'a> {
    fn of(tree: &'a Tree) -> Self {
        let text = tree.text(Path::new(SOURCES));
        Self {
            sources: headings(text).map(|(_, title)| title).collect(),
            text,
            words: capitals(tree.text(Path::new(GLOSSARY))).collect(),
        }
    }

    /// A complaint for each abbreviation, date and commit of `source` that nothing explains.
    fn unexplained(&self, source: &str) -> Vec<String> {
        let abbreviations = capitals(source)
            .filter(|word| !self.sources.contains(word) && !self.words.contains(word))
            .map(|word| format!("{word} is no source of {SOURCES} and no word of {GLOSSARY}"));
        let references = words(source)
            .filter(|word| (is_date(word) || is_commit(word)) && !self.text.contains(word))
            .map(|word| format!("{SOURCES} has nothing of {word}"));
        abbreviations.chain(references).collect()
    }

    /// Whether an entry of the facts ends with its source and its confidence.
    fn entry(&self, body: &str) -> Result<(), String> {
        let last = body.trim_end().rsplit("\n\n").next().unwrap_or_default().replace('\n', " ");
        let (source, confidence) = last
            .strip_prefix("Source: ")
            .and_then(|last| last.split_once("Confidence: "))
            .ok_or("it does not end with \"Source: ... Confidence: ...\"")?;
        let confidence = confidence.trim_end_matches('.');
        if !CONFIDENCE.contains(&confidence) {
            return Err(format!("{confidence} is none of {CONFIDENCE:?}"));
        }
        if capitals(source).all(|word| !self.sources.contains(&word)) && confidence != "guess" {
            return Err(format!("it names no source of {SOURCES}"));
        }
        self.unexplained(source).into_iter().next().map_or(Ok(()), Err)
    }
}

/// Title and text of each entry, which are headings of the third level.
fn entries(page: &str) -> impl Iterator<Item = (&str, &str)> {
    page.split("\n### ").skip(1).map(|entry| {
        let (title, body) = entry.split_once('\n').unwrap_or((entry, ""));
        (title, body.split("\n## ").next().unwrap_or(body))
    })
}

/// The value of `source` in a line of TOML.
fn source_of(line: &str) -> Option<&str> {
    line.split_once("source = \"")?.1.rsplit_once('"').map(|(source, _)| source)
}

fn words(text: &str) -> impl Iterator<Item = &str> {
    text.split(|c: char| !(c.is_ascii_alphanumeric() || c == '-' || c == '_'))
        .map(|word| word.trim_matches('-'))
}

/// Words of two characters and more without lower case. A name with an underscore is a hypercall's or the like.
fn capitals(text: &str) -> impl Iterator<Item = &str> {
    words(text).filter(|word| {
        word.len() > 1
            && word.starts_with(|c: char| c.is_ascii_uppercase())
            && !word.contains(|c: char| c.is_ascii_lowercase() || c == '_')
    })
}

/// 2021-04-26
fn is_date(word: &str) -> bool {
    word.len() == 10
        && word.bytes().enumerate().all(|(at, byte)| match at {
            4 | 7 => byte == b'-',
            _ => byte.is_ascii_digit(),
        })
}

/// The first twelve digits of a commit.
fn is_commit(word: &str) -> bool {
    word.len() == 12 && word.bytes().all(|byte| byte.is_ascii_hexdigit())
}

#[cfg(test)]
mod tests {
    use super::check;
    use crate::check::text::Tree;

    fn complaints(path: &str, text: &str) -> Vec<String> {
        let texts = [
            (
                super::SOURCES,
                "### UM9\n\nA manual.\n\n### JG9-M\n\n2021-04-26, commit f6f27951fdf8\n",
            ),
            (super::GLOSSARY, "ERAT, SMT4"),
            (path, text),
        ];
        let texts = texts.map(|(path, text)| (path.into(), text.into())).into();
        check(&Tree { texts, ..Tree::default() })
    }

    #[test]
    fn every_abbreviation_date_and_commit_of_a_source_is_explained() {
        for text in [
            "a = { value = 1, source = \"UM9: 3+3 in SMT4; JG9-M measured 64\" }",
            "source = \"N. Piggin, 2021-04-26\"",
            "source = \"Linux f6f27951fdf8: 12.5 ns, an ERAT's\"",
            "name = \"UNKNOWN\"",
        ] {
            assert_eq!(complaints("machines/a.toml", text), [""; 0], "{text}");
        }
        for text in [
            "a = { value = 1, source = \"UM8: 3\" }",
            "source = \"JG9-X\"",
            "source = \"N. Piggin, 2021-04-27\"",
            "source = \"Linux f6f27951fdf9\"",
        ] {
            assert_eq!(complaints("calibration/a.toml", text).len(), 1, "{text}");
        }
    }

    #[test]
    fn an_entry_of_the_facts_ends_with_source_and_confidence() {
        let entry =
            |end: &str| format!("# Page\n\n## Part\n\n### Entry\n\nA fact.\n\n{end}\n\n## Next\n");
        for end in [
            "Source: UM9, page 3; JG9-M\nfor the ERAT. Confidence:\nsecond-hand.",
            "Source: none. Confidence: guess.",
        ] {
            assert_eq!(complaints("docs/facts/a.md", &entry(end)), [""; 0], "{end}");
        }
        for end in [
            "",
            "Source: UM9.",
            "Source: UM9. Confidence: sure.",
            "Source: none. Confidence: published.",
            "Source: UM9, UM8. Confidence: derived.",
        ] {
            assert_eq!(complaints("docs/facts/a.md", &entry(end)).len(), 1, "{end}");
        }
    }
}
