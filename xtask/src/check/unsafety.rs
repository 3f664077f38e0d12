//! Unsafe code and assembly: only where they may be, and every block with its reason.
//!
//! clippy checks the reasons too, but only of code that is compiled for the host; this reads the text.

use std::fs;
use std::path::Path;

use anyhow::{Context, Result};

use super::folders::walk;

/// The only folders with `unsafe` and assembly.
const ALLOWED: [&str; 5] = [
    "hypervisor/hal",
    "hypervisor/pause",
    "guests/rt",
    "guests/calibrate",
    "guests/prefetch-engine",
];
/// Folders with assembly and no unsafe code: programs for the machine.
const PROGRAMS: [&str; 2] = ["hypervisor/both", "tests/conformance"];
/// How many lines above an unsafe block its reason may begin.
const REASON_LINES: usize = 12;

/// A complaint for each place that is not as it must be.
pub(super) fn check(root: &Path) -> Result<Vec<String>> {
    let mut complaints = Vec::new();
    for path in walk(root)? {
        let relative = path.strip_prefix(root).unwrap_or(&path);
        let is_allowed = ALLOWED.iter().any(|folder| relative.starts_with(folder));
        let is_program = PROGRAMS.iter().any(|folder| relative.starts_with(folder));
        match path.extension().and_then(|extension| extension.to_str()) {
            Some("S" | "s") if !is_allowed && !is_program => {
                complaints.push(format!("{}: assembly outside of {ALLOWED:?}", relative.display()))
            }
            Some("rs") => {
                let text = fs::read_to_string(&path)
                    .with_context(|| format!("reading {}", path.display()))?;
                for (line, text) in wrong_lines(&text, is_allowed) {
                    complaints.push(format!("{}:{line}: {text}", relative.display()));
                }
            }
            _ => (),
        }
    }
    Ok(complaints)
}

/// The numbers of the lines of a Rust file that are wrong, and what is wrong with each.
fn wrong_lines(text: &str, is_allowed: bool) -> Vec<(usize, &'static str)> {
    let lines: Vec<&str> = text.lines().collect();
    let mut wrong = Vec::new();
    for (index, line) in lines.iter().enumerate() {
        let code = code_of(line);
        let Some(after) = word_end(&code, "unsafe") else { continue };
        let opens_block =
            ["{", "impl"].iter().any(|next| code[after..].trim_start().starts_with(next));
        if !is_allowed {
            wrong.push((index + 1, "unsafe code where none may be"));
        } else if opens_block && !has_reason(&lines[..=index]) {
            wrong.push((index + 1, "an unsafe block without a SAFETY comment"));
        }
    }
    wrong
}

/// Whether the last of `lines`, or the comment that ends right above its statement, gives a reason.
fn has_reason(lines: &[&str]) -> bool {
    let Some((last, above)) = lines.split_last() else { return false };
    let mut is_statement = true;
    last.contains("SAFETY:")
        || above
            .iter()
            .rev()
            .take(REASON_LINES)
            .take_while(|line| {
                let is_comment = line.trim_start().starts_with("//");
                let ends_statement =
                    line.trim_end().ends_with([';', '{', '}']) || line.trim().is_empty();
                is_statement &= !is_comment;
                is_comment || is_statement && !ends_statement
            })
            .any(|line| line.contains("SAFETY:"))
}

/// A line without its comment and without the contents of its strings.
fn code_of(line: &str) -> String {
    let mut code = String::new();
    let mut in_string = false;
    // The character literal of a quote is not the begin of a string.
    let line = line.replace("'\"'", "");
    let mut characters = line.chars().peekable();
    while let Some(character) = characters.next() {
        match character {
            '\\' if in_string => drop(characters.next()),
            '"' => in_string = !in_string,
            '/' if !in_string && characters.peek() == Some(&'/') => break,
            _ if in_string => (),
            _ => code.push(character),
        }
    }
    code
}

/// Where `word` ends in `code`, if it is there as a word of its own.
fn word_end(code: &str, word: &str) -> Option<usize> {
    let is_part = |character: char| character.is_alphanumeric() || character == '_';
    code.match_indices(word).map(|(start, _)| (start, start + word.len())).find_map(
        |(start, end)| {
            let is_alone = !code[..start].ends_with(is_part) && !code[end..].starts_with(is_part);
            is_alone.then_some(end)
        },
    )
}

#[cfg(test)]
mod tests {
    use super::wrong_lines;

    #[test]
    fn the_word_is_found_as_code_only() {
        for text in [
            "unsafe { f() }",
            "    pub unsafe fn f() {}",
            "#[unsafe(no_mangle)]",
            "unsafe impl Send for A {}",
            "'\"' => unsafe { f() }",
        ] {
            assert_eq!(wrong_lines(text, false).len(), 1, "{text}");
        }
        for text in [
            "// unsafe",
            "let unsafety = 1;",
            "unsafe_code = 1",
            "\"an unsafe word\"",
            "#![forbid(unsafe_code)]",
        ] {
            assert!(wrong_lines(text, false).is_empty(), "{text}");
        }
    }

    #[test]
    fn a_block_needs_a_reason_right_above() {
        let without = [
            "unsafe { f() }",
            "// Why.\nunsafe { f() }",
            "// SAFETY: x\nf();\nunsafe { f() }",
            "// SAFETY: x\n\nunsafe { f() }",
        ];
        for text in without {
            assert_eq!(wrong_lines(text, true).len(), 1, "{text}");
        }
        let with = [
            "// SAFETY: x\nunsafe { f() }",
            "// SAFETY: x\n// and more\nlet a =\n    unsafe { f() };",
            "unsafe { f() } // SAFETY: x",
            "pub unsafe fn f() {}",
        ];
        for text in with {
            assert!(wrong_lines(text, true).is_empty(), "{text}");
        }
    }
}
