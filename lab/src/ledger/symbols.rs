//! The symbols of a program whose file has none: what `System.map` and `/proc/kallsyms` say, a line each,
//! `ADDRESS TYPE NAME` in hexadecimal, with `[MODULE]` behind it where a module has the symbol.

use std::collections::BTreeMap;
use std::path::Path;

use super::names::{COMMON, Program};
use crate::failure::Failure;
use crate::user_file::Files;

/// What files with symbols are, for complaints.
const KINDS: &str =
    "give an ELF file with a symbol table, a System.map, or /proc/kallsyms as root reads it";

/// The program whose symbols are in the file.
///
/// # Errors
/// [`Failure`] if it cannot be read, or has no symbols of code.
pub fn read(path: &Path, files: &Files) -> Result<Program, Failure> {
    let bytes = files.read(path)?;
    let wrong = |text: &str| Failure::input(path.display(), format_args!("{text}; {KINDS}"));
    if bytes.starts_with(b"\x7fELF") {
        let program = Program::of_elf(&bytes);
        return if program.has_symbols() {
            Ok(program)
        } else {
            Err(wrong("an ELF file without a symbol table"))
        };
    }
    let text = std::str::from_utf8(&bytes).map_err(|_| wrong("neither ELF nor text"))?;
    let symbols = of_text(text).map_err(|error| wrong(&error))?;
    if !symbols.values().any(Option::is_some) {
        return Err(wrong("no symbol of code is in it"));
    }
    Ok(Program::of_symbols(symbols))
}

/// By address: the function that begins there, `None` for what is not code.
fn of_text(text: &str) -> Result<BTreeMap<u64, Option<String>>, String> {
    let mut symbols = BTreeMap::new();
    for (number, line) in (1..).zip(text.lines()) {
        let words: Vec<&str> = line.split_whitespace().collect();
        let (address, kind, name) = match words[..] {
            [] => continue,
            [address, kind, name] => (address, kind, name),
            [address, kind, name, module] if module.starts_with('[') => (address, kind, name),
            _ => return Err(format!("line {number} is not `ADDRESS TYPE NAME`")),
        };
        let (Ok(address), [kind]) = (u64::from_str_radix(address, 16), kind.as_bytes()) else {
            return Err(format!("line {number} is not `ADDRESS TYPE NAME`"));
        };
        let is_code = matches!(kind, b't' | b'T' | b'w' | b'W');
        let function = symbols.entry(address & COMMON).or_insert(None);
        if is_code && function.is_none() {
            *function = Some(name.to_owned());
        }
    }
    if symbols.len() == 1 && symbols.contains_key(&0) {
        return Err("every address is 0".to_owned());
    }
    Ok(symbols)
}

#[cfg(test)]
mod tests {
    use super::{of_text, read};
    use crate::ledger::names::Program;
    use crate::user_file::Files;

    const MAP: &str = "c000000000000100 T enter\nc000000000000100 t same\n\nc000000000000200 t leave\r\n\
        c000000000000300 D table\nc008000000000000 t late\t[module]\n";

    #[test]
    fn a_function_ends_where_anything_else_begins() {
        let program = Program::of_symbols(of_text(MAP).unwrap());
        let function = |address| program.place(address).function;
        assert_eq!(function(0xC000_0000_0000_01FC), "enter");
        assert_eq!(program.place(0x204).offset, 4, "in real mode");
        assert_eq!(function(0xC000_0000_0000_0304), "0x304", "data");
        assert_eq!(function(0xC008_0000_0000_0010), "late");
        assert_eq!(function(0x50), "0x50", "before the first");
        assert_eq!(program.addresses_of("leave"), [0x200]);
    }

    #[test]
    fn what_has_no_symbols_is_refused_in_one_line() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("map");
        let stub =
            "ffffffffffffffff B The real System.map is in the linux-image-<version>-dbg package\n";
        for (file, what) in [
            (stub.as_bytes(), "line 1 is not `ADDRESS TYPE NAME`"),
            (b"0 T _stext\n0 T other\n", "every address is 0"),
            (b"c000 T a\nc004 T\n", "line 2 is not"),
            (b"c000 Text a\n", "line 1 is not"),
            (b"zz T a\n", "line 1 is not"),
            (b"c000000000000100 D a\n", "no symbol of code"),
            (b"", "no symbol of code"),
            (b"\x7fELF", "without a symbol table"),
            (b"\xFF\xFE", "neither ELF nor text"),
        ] {
            std::fs::write(&path, file).unwrap();
            let error = read(&path, &Files::default()).unwrap_err().to_string();
            assert!(error.contains(what) && !error.contains('\n'), "{error}");
        }
    }
}
