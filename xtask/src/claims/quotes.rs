//! Outputs that a document quotes, in blocks whose commands are `powervisor run`, `powervisor diff` and `sed`.
//!
//! A quoted line is the next line of the output that is the same but for its figures; `...` stands for lines
//! that are left out.

use std::collections::VecDeque;
use std::fs;
use std::os::unix::fs::symlink;
use std::path::Path;
use std::process::Command;

use anyhow::{Context, Result};

use crate::workspace::{Workspace, output};

/// What begins a command in a block.
const PROMPT: &str = "$ ";
/// What a block's commands read, from the root.
const READ: [&str; 2] = ["machines", "experiments"];

/// `text` with the figures that its commands print now.
pub(super) fn refresh(workspace: &Workspace, text: &str) -> Result<String> {
    let folder = workspace.target.join("claims");
    // What is left of a run before is in the way of nothing.
    let _ = fs::remove_dir_all(&folder);
    fs::create_dir_all(&folder)?;
    for name in READ {
        symlink(workspace.root.join(name), folder.join(name))?;
    }
    let mut is_block = false;
    let mut printed = VecDeque::new();
    let mut fresh = String::new();
    for line in text.lines() {
        if line.starts_with("```") {
            is_block = !is_block;
            printed.clear();
        }
        if let Some(command) = line.strip_prefix(PROMPT).filter(|_| is_block) {
            printed = match is_repeated(command) {
                true => print(workspace, &folder, command)?,
                false => VecDeque::new(),
            };
            fresh.push_str(line);
        } else if let Some(now) = is_block.then(|| like(&mut printed, line)).flatten() {
            fresh.push_str(&now);
        } else {
            fresh.push_str(line);
        }
        fresh.push('\n');
    }
    Ok(fresh)
}

fn is_repeated(command: &str) -> bool {
    ["powervisor run ", "powervisor diff ", "sed "].iter().any(|begin| command.starts_with(begin))
}

/// The lines that `command` prints, run in `folder`.
fn print(workspace: &Workspace, folder: &Path, command: &str) -> Result<VecDeque<String>> {
    println!("claims: {command}");
    let release = workspace.release();
    let programs = release.parent().context("the command lies in a folder")?;
    let path = std::env::var("PATH").unwrap_or_default();
    let mut shell = Command::new("sh");
    shell.args(["-e", "-c", command]).current_dir(folder);
    shell.env("PATH", format!("{}:{path}", programs.display()));
    shell.env("POWERVISOR_IMAGES", workspace.images());
    Ok(output(&mut shell)?.lines().map(str::to_owned).collect())
}

/// The next line that is `line` but for its figures; those before it are left out.
fn like(printed: &mut VecDeque<String>, line: &str) -> Option<String> {
    let wanted = without_figures(line);
    if !wanted.chars().any(char::is_alphabetic) {
        return None;
    }
    let place = printed.iter().position(|printed| without_figures(printed) == wanted)?;
    printed.drain(..=place).next_back()
}

/// Digits of a checksum.
const CHECKSUM: usize = 16;

/// `line` with one sign for each number and checksum, and one blank for each gap.
fn without_figures(line: &str) -> String {
    let is_digit = |byte: u8| byte.is_ascii_digit() || (b'a'..=b'f').contains(&byte);
    let is_checksum = |word: &str| word.len() == CHECKSUM && word.bytes().all(is_digit);
    let without = |word| if is_checksum(word) { "0" } else { word };
    let words: Vec<&str> = line
        .split_inclusive([' ', ','])
        .flat_map(|word| {
            let (word, end) = word.split_at(word.trim_end_matches([' ', ',']).len());
            [without(word), end]
        })
        .collect();
    let mut plain = String::new();
    for character in words.concat().chars() {
        let next = match character {
            '0'..='9' | '.' | ',' | '+' | '-' if plain.ends_with('#') => continue,
            '0'..='9' => '#',
            ' ' if plain.ends_with(' ') => continue,
            other => other,
        };
        // The sign of a number is part of it.
        if next == '#' && (plain.ends_with(" -") || plain.ends_with(" +")) {
            plain.pop();
        }
        plain.push(next);
    }
    plain
}

#[cfg(test)]
mod tests {
    use std::collections::VecDeque;

    use super::{like, without_figures};

    #[test]
    fn a_line_is_found_by_its_words() {
        let printed = ["a   1,257.1  2", "b 1", "  -470000   4  waits", "c 1", "b 2"];
        let mut printed = VecDeque::from(printed.map(str::to_owned));
        assert_eq!(like(&mut printed, "a  257.0029    3").as_deref(), Some("a   1,257.1  2"));
        assert_eq!(like(&mut printed, "   +12  0  waits").as_deref(), Some("  -470000   4  waits"));
        assert_eq!(like(&mut printed, "b 7").as_deref(), Some("b 2"), "the next, not the first");
        assert_eq!(like(&mut printed, "c 1"), None, "it was before");
        assert_eq!(like(&mut printed, "..."), None);
        assert_eq!(without_figures("a 1.5  (2 to 3)"), "a # (# to #)");
        let machine = |checksum| format!("machine power9, parameters {checksum}, seed 1");
        let [before, now] = ["f5e5a7d12804a793", "5676114a7fad4aa5"].map(machine);
        assert_eq!(without_figures(&before), without_figures(&now));
        assert_ne!(without_figures(&before), without_figures(&machine("dispatch")));
    }
}
