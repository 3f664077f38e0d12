//! What gdb has no command for: `monitor memory` looks at real and guest real addresses, `monitor symbols` says
//! how gdb gets to know the programs that run, and [`vcpus`] has the rest.

use std::fmt::Write as _;

use simulator::Machine;

use super::{Surroundings, vcpus};

/// Bytes that are shown at most, if nobody says, and in a line.
const MOST: usize = 4096;
const USUAL: usize = 64;
const LINE: usize = 16;

const HELP: &str = "\
monitor memory real ADDRESS [BYTES]              memory by real address
monitor memory guest PARTITION ADDRESS [BYTES]   a partition's memory by guest real address
monitor vcpus                                    each vCPU: what it does, and where
monitor registers PARTITION VCPU                 the registers of a vCPU that is on no hardware thread
monitor symbols                                  the commands that tell gdb the symbols of what runs
Memory by effective address, as the chosen thread sees it: gdb's own x and print.
";

/// The answer to `monitor` with this behind it.
pub(super) fn answer(machine: &Machine, surroundings: &dyn Surroundings, line: &str) -> String {
    let words: Vec<&str> = line.split_whitespace().collect();
    let answered = match words[..] {
        [] | ["help"] => Ok(HELP.to_owned()),
        ["symbols"] => Ok(symbols(surroundings)),
        ["vcpus"] => vcpus::list(machine, surroundings.layout(), surroundings),
        ["registers", partition, vcpu] => lpid(surroundings, partition)
            .and_then(|lpid| vcpus::registers(machine, surroundings.layout(), lpid, vcpu)),
        ["memory", "real", ref place @ ..] => {
            memory(place, |address, bytes| machine.look_at_real(address, bytes))
        }
        ["memory", "guest", partition, ref place @ ..] => {
            lpid(surroundings, partition).and_then(|lpid| {
                memory(place, |address, bytes| machine.look_at_guest_real(lpid, address, bytes))
            })
        }
        _ => Err(format!("there is no `monitor {line}`; there are\n{}", HELP.trim_end())),
    };
    answered.unwrap_or_else(|wrong| format!("{wrong}\n"))
}

/// The number of the partition with this name.
fn lpid(surroundings: &dyn Surroundings, wanted: &str) -> Result<u32, String> {
    let name = |lpid: &u32| surroundings.partition(*lpid);
    let lpids = 1..=surroundings.partitions() as u32;
    lpids.clone().find(|lpid| name(lpid) == Some(wanted)).ok_or_else(|| {
        let known: Vec<&str> = lpids.filter_map(|lpid| name(&lpid)).collect();
        match known.is_empty() {
            true => "no partition runs on this machine; use `monitor memory real`".to_owned(),
            false => format!("no partition is called `{wanted}`; known: {}", known.join(", ")),
        }
    })
}

/// What memory has at `place`, an address and a number of bytes.
fn memory(place: &[&str], look: impl Fn(u64, &mut [u8]) -> usize) -> Result<String, String> {
    let (address, bytes) = match *place {
        [address] => (number(address)?, USUAL as u64),
        [address, bytes] => (number(address)?, number(bytes)?),
        _ => return Err("say an address, and how many bytes: 0x1000 64".to_owned()),
    };
    let wanted = usize::try_from(bytes).ok().filter(|bytes| (1..=MOST).contains(bytes));
    let wanted = wanted.ok_or_else(|| format!("{bytes} bytes are not 1 to {MOST}"))?;
    let mut bytes = vec![0; wanted];
    let read = look(address, &mut bytes);
    let mut text = String::new();
    for (at, line) in (0..).step_by(LINE).zip(bytes[..read].chunks(LINE)) {
        let _ = write!(text, "{:#018x}:", address.wrapping_add(at));
        line.iter().for_each(|byte| {
            let _ = write!(text, " {byte:02x}");
        });
        text.push('\n');
    }
    if read < wanted {
        let at = address.wrapping_add(read as u64);
        let _ = writeln!(text, "{at:#018x}: no memory");
    }
    Ok(text)
}

fn number(text: &str) -> Result<u64, String> {
    let parsed = match text.strip_prefix("0x") {
        Some(digits) => u64::from_str_radix(digits, 16),
        None => text.parse(),
    };
    parsed.map_err(|_| format!("`{text}` is no number; write 4096 or 0x1000"))
}

/// The commands that tell gdb the symbols of the programs whose files are known.
fn symbols(surroundings: &dyn Surroundings) -> String {
    let programs = surroundings.programs();
    if programs.is_empty() {
        return "no program's file is known; add-symbol-file takes one\n".to_owned();
    }
    let line = |(who, path, offset): &(String, String, u64)| match offset {
        0 => format!("# {who}\nadd-symbol-file {path}\n"),
        offset => format!("# {who}\nadd-symbol-file {path} -o {offset:#x}\n"),
    };
    programs.iter().map(line).collect()
}
