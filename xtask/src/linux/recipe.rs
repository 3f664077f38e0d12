//! The guest of `examples/linux-guest.toml`, as it stands there and with other vCPUs and translations; what it costs
//! beside the bare kernel, and what it leaves for.

use std::collections::BTreeMap;
use std::fs;
use std::path::PathBuf;
use std::process::Stdio;

use anyhow::{Context, Result, ensure};

use super::{Fetched, boot};
use crate::workspace::Workspace;

/// From the root.
const RECIPE: &str = "examples/linux-guest.toml";
/// vCPUs and translation, and how Linux calls it. The first is what the recipe has.
const KINDS: [(u32, &str, &str); 4] =
    [(1, "radix", "Radix"), (4, "radix", "Radix"), (1, "hash", "Hash"), (4, "hash", "Hash")];
/// What is typed. The command line has no word that tells how many vCPUs and which translation there should be.
const COMMANDS: [&str; 5] = [
    "echo \"=$((6*7))\"",
    "echo \"=$(seq 2000 | gzip | gunzip | md5sum)\"",
    "echo \"=$(nproc)\"",
    "echo \"=$(sed -n 's/^MMU.*: //p' /proc/cpuinfo)\"",
    "poweroff -f",
];
/// `seq 2000 | md5sum`.
const SUM: &str = "ea4d0a24dabcaa11f9aa979b872d162b  -";
const PROMPT: &str = "/ # ";
/// Instructions of a guest's boot are at most so many times those of a bare one.
const RATIO_MAX: f64 = 2.0;
/// Characters that H_PUT_TERM_CHAR takes.
const CHARACTERS_MAX: u64 = 16;

/// Boots each kind on both machines, types a few commands, and switches off. What that took.
pub(super) fn boot(workspace: &Workspace) -> Result<String> {
    let mut took = Vec::new();
    for (vcpus, translation, mmu) in KINDS {
        for machine in ["simulator", "qemu"] {
            let mut command = workspace.powervisor(&["boot", "--on", machine]);
            command.arg(file(workspace, vcpus, translation)?);
            let said = boot::converse(command, &COMMANDS)
                .with_context(|| format!("vCPUs {vcpus}, {translation}, {machine}"))?;
            let expected = ["42", SUM, &vcpus.to_string(), mmu];
            ensure!(
                said.answers == expected,
                "the guest of {vcpus} vCPUs, {translation}, answers {:?} on {machine}, not {expected:?}",
                said.answers
            );
            let seconds = said.took.as_secs_f64();
            took.push(format!("vCPUs {vcpus}, {translation}, {machine} {seconds:.1} s"));
        }
    }
    Ok(format!("guests of {RECIPE}: {}", took.join("; ")))
}

/// The recipe, changed if another kind is asked for.
fn file(workspace: &Workspace, vcpus: u32, translation: &str) -> Result<PathBuf> {
    let recipe = workspace.root.join(RECIPE);
    if (vcpus, translation) == (KINDS[0].0, KINDS[0].1) {
        return Ok(recipe);
    }
    let mut text = fs::read_to_string(&recipe).with_context(|| format!("reading {RECIPE}"))?;
    let kind = format!("vcpus = {vcpus}\ntranslation = \"{translation}\"");
    for (from, to) in [("vcpus = 1", kind.as_str()), ("../target/linux/", "../")] {
        ensure!(text.contains(from), "{RECIPE} has no `{from}`");
        text = text.replace(from, to);
    }
    let folder = workspace.target.join("linux/recipe");
    fs::create_dir_all(&folder)?;
    let changed = folder.join("guest.toml");
    fs::write(&changed, text)?;
    Ok(changed)
}

/// Boots the recipe and the same kernel bare to the prompt, on our machine: instructions of both, and the guest's exits
/// by reason.
pub(super) fn cost(workspace: &Workspace, fetched: &Fetched) -> Result<String> {
    let run = |arguments: &[&str], more: &[PathBuf]| {
        let mut command = workspace.powervisor(&["boot", "--until-console", PROMPT]);
        command.args(arguments).args(more).stdin(Stdio::null());
        let output = command.output().context("running powervisor")?;
        let log = String::from_utf8_lossy(&output.stderr).into_owned();
        ensure!(
            output.status.success(),
            "a boot to the prompt ended with {}:\n{log}",
            output.status
        );
        let count = instructions(&log).with_context(|| format!("no instructions in\n{log}"))?;
        anyhow::Ok((count, log))
    };
    let bare = [fetched.image.clone(), "--initrd".into(), fetched.initramfs.clone()];
    let (bare, _) = run(&["--append", "console=hvc0", "--kernel"], &bare)?;
    let (guest, log) = run(&["--trace", "exits"], &[workspace.root.join(RECIPE)])?;
    let ratio = guest as f64 / bare as f64;
    ensure!(
        ratio <= RATIO_MAX,
        "a guest's boot takes {ratio:.2} times the instructions of a bare one"
    );
    let mut reasons: Vec<_> = reasons(&log).into_iter().collect();
    reasons.sort_by_key(|(_, count)| std::cmp::Reverse(*count));
    let reasons: Vec<_> =
        reasons.into_iter().map(|(reason, count)| format!("{count} {reason}")).collect();
    let Written { early, exits, characters, lines } = Written::of(&log);
    ensure!(lines > 50, "the console was written to in {lines} lines");
    // What is written at a time ends in a call that is not full, and a line's end may be one of its own.
    let most = characters / CHARACTERS_MAX + 2 * lines;
    ensure!(exits <= most, "{exits} exits for {characters} characters in {lines} lines");
    Ok(format!(
        "to the prompt {guest} instructions as a guest, {bare} bare, {ratio:.3} times; exits: {}; of H_PUT_TERM_CHAR \
         {early} by the first console, a character each, then {exits} for {characters} characters in {lines} lines",
        reasons.join(", ")
    ))
}

/// What a boot says that it took.
fn instructions(log: &str) -> Option<u64> {
    let (before, _) = log.rsplit_once(" instructions, ")?;
    before.rsplit_once(' ')?.1.parse().ok()
}

/// Exits of a trace by what they are for: a hypercall, or another interrupt.
pub(super) fn reasons(log: &str) -> BTreeMap<&str, u64> {
    let mut reasons = BTreeMap::new();
    for line in log.lines() {
        let Some((_, exit)) = line.split_once(" exit 0x") else { continue };
        let mut words = exit.split(' ');
        let vector = words.nth(1).unwrap_or_default();
        let call = words.find(|word| word.starts_with("H_"));
        *reasons.entry(call.unwrap_or(vector)).or_default() += 1;
    }
    reasons
}

/// What a trace says of the console.
#[derive(PartialEq, Eq, Default, Debug)]
struct Written {
    /// Calls before the first one with more than a character: Linux's console of early boot writes one at a time.
    early: u64,
    /// Calls from there on.
    exits: u64,
    characters: u64,
    lines: u64,
}

impl Written {
    fn of(log: &str) -> Self {
        let mut written = Self::default();
        for line in log.lines() {
            let Some((_, call)) = line.split_once(" H_PUT_TERM_CHAR ") else { continue };
            let words: Vec<&str> = call.split(' ').collect();
            let argument = |register: &str| {
                let at = words.iter().position(|word| *word == register)?;
                u64::from_str_radix(words.get(at + 1)?.strip_prefix("0x")?, 16).ok()
            };
            let [length, first, second] =
                ["r5", "r6", "r7"].map(|name| argument(name).unwrap_or_default());
            if written.exits == 0 && length <= 1 {
                written.early += 1;
                continue;
            }
            written.exits += 1;
            written.characters += length;
            let bytes = [first, second].map(u64::to_be_bytes).concat();
            let ends = bytes.iter().take(length as usize).filter(|byte| **byte == b'\n').count();
            written.lines += ends as u64;
        }
        written
    }
}

#[cfg(test)]
mod tests {
    use super::{Written, instructions, reasons};

    const LOG: &str = "powervisor: one\n\
        0.01 thread 0x0 lpid 1 linux exit 0xe00 hypervisor-data-storage real at 0x0 HDAR 0x0\n\
        0.02 thread 0x0 lpid 1 linux exit 0xc00 system-call virtual at 0x0 H_PUT_TERM_CHAR 0x58 r4 0x0 r5 0x1 r6 0x5b00000000000000 r7 0x0\n\
        0.03 thread 0x0 lpid 1 linux exit 0xc00 system-call virtual at 0x0 H_PUT_TERM_CHAR 0x58 r4 0x0 r5 0x3 r6 0x410d0a0a00000000 r7 0x0\n\
        0.04 thread 0x0 lpid 1 linux exit 0xc00 system-call virtual at 0x0 H_PUT_TERM_CHAR 0x58 r4 0x0 r5 0x1 r6 0x0a00000000000000 r7 0x0\n\
        powervisor: at console text \"/ # \" after 1009 instructions, 0.26 s simulated, 117.1 MIPS\n";

    #[test]
    fn a_trace_is_counted() {
        assert_eq!(instructions(LOG), Some(1009));
        let expected = [("H_PUT_TERM_CHAR", 3), ("hypervisor-data-storage", 1)];
        assert!(reasons(LOG).into_iter().eq(expected));
        let written = Written { early: 1, exits: 2, characters: 4, lines: 2 };
        assert_eq!(Written::of(LOG), written);
    }
}
