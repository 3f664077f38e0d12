//! A TOML file from the user, and complaints about it that name file and line.
//!
//! The structures that are read say `deny_unknown_fields`; what serde and the TOML reader report is
//! turned here into `what is wrong; what would be right`. Values that must be checked after reading
//! are `toml::Spanned`, whose span [`TomlFile::complain`] takes.

use std::fmt::Display;
use std::ops::Range;
use std::path::{Path, PathBuf};

use serde::de::DeserializeOwned;
use toml::de::DeTable;

use crate::failure::Failure;
use crate::user_file::Files;

/// The text of a TOML file.
#[derive(Clone, Debug)]
pub struct TomlFile {
    path: PathBuf,
    text: String,
}

impl TomlFile {
    /// Reads the file. Fails if it cannot be read or is not UTF-8.
    pub fn read(path: &Path, files: &Files) -> Result<Self, Failure> {
        Self::from_bytes(path, files.read(path)?)
    }

    /// The file at `path`, which holds these bytes. Fails if they are not UTF-8.
    pub fn from_bytes(path: &Path, bytes: Vec<u8>) -> Result<Self, Failure> {
        let text = String::from_utf8(bytes).map_err(|_| {
            Failure::input(path.display(), "the file is not text; it must be TOML in UTF-8")
        })?;
        Ok(Self { path: path.to_owned(), text })
    }

    /// What the file holds.
    #[must_use]
    pub fn text(&self) -> &str {
        &self.text
    }

    /// Reads the file's structure. Fails, with the line, where it is not TOML or not a `T`.
    pub fn parse<T: DeserializeOwned>(&self) -> Result<T, Failure> {
        self.parse_after(|_| Ok(()))
    }

    /// The same, with what `change` makes of the file's tables.
    pub fn parse_after<T: DeserializeOwned>(
        &self,
        change: impl FnOnce(&mut DeTable<'_>) -> Result<(), Failure>,
    ) -> Result<T, Failure> {
        let complain = |error: toml::de::Error| {
            let text = explain(error.message());
            let right = if text.contains("; ") { "" } else { "; it must be valid TOML" };
            self.complain(error.span().unwrap_or(0..0), format_args!("{text}{right}"))
        };
        let mut root = DeTable::parse(&self.text).map_err(complain)?;
        change(root.get_mut())?;
        T::deserialize(toml::Deserializer::from(root)).map_err(complain)
    }

    /// A complaint about the characters in `span`.
    pub fn complain(&self, span: Range<usize>, text: impl Display) -> Failure {
        Failure::in_line(self.path.display(), self.line(&span), text)
    }

    /// File and line of the characters in `span`.
    #[must_use]
    pub fn place(&self, span: Range<usize>) -> String {
        format!("{}:{}", self.path.display(), self.line(&span))
    }

    fn line(&self, span: &Range<usize>) -> usize {
        let before = &self.text.as_bytes()[..span.start.min(self.text.len())];
        1 + before.iter().filter(|&&byte| byte == b'\n').count()
    }

    /// A path written in this file: relative ones are relative to the file's own folder.
    #[must_use]
    pub fn resolve(&self, path: &str) -> PathBuf {
        self.path.parent().unwrap_or(Path::new("")).join(path)
    }
}

/// Turns a message of the TOML reader into `what is wrong; what would be right`; other messages stay.
#[must_use]
pub fn explain(message: &str) -> String {
    let message = message.trim().replace('\n', ", ");
    let mut quoted = message.split('`').skip(1).step_by(2);
    if message.starts_with("unknown field") || message.starts_with("unknown variant") {
        let unknown = quoted.next().unwrap_or_default();
        let what = if message.starts_with("unknown field") { "key" } else { "value" };
        return format!("unknown {what} `{unknown}`; {}", suggest(unknown, quoted));
    }
    if message.starts_with("missing field") {
        let missing = quoted.next().unwrap_or_default();
        return format!("the key `{missing}` is missing; add a line `{missing} = ...`");
    }
    if message.ends_with("value was too large") || message.contains("` as i128, expected ") {
        return "a number beyond those of 64 bits with a sign; write one from -9223372036854775808 to 9223372036854775807"
            .to_owned();
    }
    match message.split_once(", expected ") {
        Some((wrong, expected)) => format!("{wrong}; expected {}", in_words(expected)),
        None => message,
    }
}

/// What serde calls by the name of a type.
fn in_words(expected: &str) -> &str {
    match expected {
        "f64" => "a number",
        "u16" => "a whole number from 0 to 65535",
        "u32" => "a whole number from 0 to 4294967295",
        "u64" => "a whole number, 0 or more",
        "a sequence" => "a list",
        "a map" => "a table",
        _ if expected.starts_with("struct ") => "a table",
        other => other,
    }
}

/// Names the known word nearest to `unknown`, or all of them if none is near.
pub fn suggest<'a>(unknown: &str, known: impl IntoIterator<Item = &'a str>) -> String {
    let known: Vec<&str> = known.into_iter().collect();
    let distance = |word: &&str| strsim::damerau_levenshtein(&unknown.to_lowercase(), word);
    match known.iter().copied().min_by_key(distance) {
        Some(nearest) if distance(&nearest) <= 1 + nearest.len() / 3 => {
            format!("did you mean `{nearest}`?")
        }
        _ => format!("known: {}", known.join(", ")),
    }
}

#[cfg(test)]
mod tests {
    use std::path::PathBuf;

    use serde::Deserialize;

    use super::TomlFile;
    use crate::size::Size;

    #[derive(Deserialize, Debug)]
    #[serde(deny_unknown_fields)]
    #[expect(dead_code, reason = "only whether it can be read matters")]
    struct Example {
        name: String,
        memory: Option<Size>,
    }

    fn complaint(text: &str) -> String {
        let file = TomlFile { path: PathBuf::from("x.toml"), text: text.to_owned() };
        file.parse::<Example>().unwrap_err().to_string()
    }

    #[test]
    fn complaints_name_the_line_and_what_would_be_right() {
        for (text, expected) in [
            ("name = 'a'\nmemroy = 1\n", "x.toml:2: unknown key `memroy`; did you mean `memory`?"),
            ("name = 'a'\nzzzzzz = 1\n", "x.toml:2: unknown key `zzzzzz`; known: name, memory"),
            ("\n\nname = 5\n", "x.toml:3: invalid type: integer `5`; expected a string"),
            ("memory = 1\n", "x.toml:1: the key `name` is missing; add a line `name = ...`"),
            (
                "name = 'a'\nmemory = '64 MB'\n",
                "x.toml:2: invalid value: string \"64 MB\"; expected a whole number of KiB, MiB, GiB or TiB such as \"64 MiB\", or a number of bytes",
            ),
        ] {
            assert_eq!(complaint(text), expected);
        }
    }

    #[test]
    fn malformed_toml_is_one_line_with_its_line_number() {
        for text in ["name = 'a'\n[machine\n", "name = 'a'\nmemory\n", "name = 'a'\nname = 'b'\n"] {
            let complaint = complaint(text);
            assert!(complaint.starts_with("x.toml:2: "), "{complaint}");
            assert!(complaint.contains("; "), "{complaint}");
            assert!(!complaint.contains('\n'), "{complaint}");
        }
    }

    #[test]
    fn a_complaint_past_the_end_is_still_a_complaint() {
        let file = TomlFile { path: PathBuf::from("x.toml"), text: "a\nb".to_owned() };
        assert_eq!(file.complain(99..100, "odd").to_string(), "x.toml:2: odd");
    }
}
