//! From owners and addresses to names: partitions of the bundle, symbols of the ELF files, and the
//! instructions that lie there.

use std::collections::BTreeMap;

use arch::instruction::{Word, decode, disassemble};
use arch::interrupt::{AIL3_BASE, Vector};
use arch::registers::spr::{Spr, SprRow};
use object::{Object, ObjectSection, ObjectSymbol, SectionKind, SymbolKind};
use simulator::Machine;
use simulator::ledger::Owner;

use super::inlined::Inlined;

/// The bits of an address that are the same with relocation on and off: programs for POWER are linked
/// so that the top four bits do not matter.
pub(super) const COMMON: u64 = !(0xF << 60);

/// A program's symbols and code, by address.
#[derive(Clone, Debug, Default)]
pub struct Program {
    /// The function that begins there; `None` where something else does.
    symbols: BTreeMap<u64, Option<String>>,
    /// Whether a symbol holds up to the next one, whatever code is known.
    has_ends: bool,
    code: BTreeMap<u64, Vec<u8>>,
    /// What was found in memory, which the file's code may have become.
    found: BTreeMap<u64, [u8; 4]>,
    is_big_endian: bool,
    inlined: Inlined,
    /// The first four bits of the file's addresses.
    high: u64,
}

impl Program {
    /// Of an ELF file. A file without symbols, or that is no ELF file, gives a program without names.
    #[must_use]
    pub fn of_elf(bytes: &[u8]) -> Self {
        let Ok(file) = object::File::parse(bytes) else { return Self::default() };
        let mut program = Self { is_big_endian: !file.is_little_endian(), ..Self::default() };
        for section in file.sections().filter(|section| section.kind() == SectionKind::Text) {
            if let Ok(data) = section.data() {
                program.high = section.address() & !COMMON;
                program.code.insert(section.address() & COMMON, data.to_vec());
            }
        }
        for symbol in file.symbols() {
            let is_code = symbol.section_index().is_some_and(|index| {
                file.section_by_index(index)
                    .is_ok_and(|section| section.kind() == SectionKind::Text)
            });
            let is_label = matches!(symbol.kind(), SymbolKind::Text | SymbolKind::Label)
                || symbol.kind() == SymbolKind::Unknown;
            let name = symbol.name().unwrap_or_default();
            if is_code && is_label && !name.is_empty() {
                let name = format!("{:#}", rustc_demangle::demangle(name));
                program.symbols.entry(symbol.address() & COMMON).or_insert(Some(name));
            }
        }
        // The last function of a section ends with it, whatever is found in memory behind.
        let ends = program.code.iter().map(|(start, code)| start + code.len() as u64);
        for end in ends.collect::<Vec<_>>() {
            program.symbols.entry(end).or_insert(None);
        }
        program.inlined = Inlined::of(&file);
        program
    }

    /// With these symbols, by address without its first four bits, and no code: `None` where no function begins.
    #[must_use]
    pub fn of_symbols(symbols: BTreeMap<u64, Option<String>>) -> Self {
        Self { symbols, has_ends: true, ..Self::default() }
    }

    /// The program with the symbols of `other`.
    #[must_use]
    pub fn with_symbols_of(self, other: Self) -> Self {
        let code = if self.code.is_empty() { other.code } else { self.code };
        let is_big_endian = self.is_big_endian || other.is_big_endian;
        Self {
            symbols: other.symbols,
            has_ends: other.has_ends,
            code,
            is_big_endian,
            inlined: other.inlined,
            high: other.high,
            ..Self::default()
        }
    }

    /// Whether any function is known.
    #[must_use]
    pub fn has_symbols(&self) -> bool {
        self.functions().next().is_some()
    }

    /// The names of its functions.
    pub fn functions(&self) -> impl Iterator<Item = &str> {
        self.symbols.values().filter_map(Option::as_deref)
    }

    /// Where functions of this name begin; the first four bits of an address do not matter.
    #[must_use]
    pub fn addresses_of(&self, name: &str) -> Vec<u64> {
        let named = |(address, symbol): (&u64, &Option<String>)| {
            (symbol.as_deref() == Some(name)).then_some(*address)
        };
        self.symbols.iter().filter_map(named).collect()
    }

    /// Notes what lies in memory at addresses; which end it begins with counts where the program's file has no code.
    fn found(&mut self, code: BTreeMap<u64, [u8; 4]>, is_big_endian: bool) {
        if self.code.is_empty() {
            self.is_big_endian = is_big_endian;
        }
        self.found.extend(code.into_iter().map(|(address, bytes)| (address & COMMON, bytes)));
    }

    /// The word at `address`, if it was found in memory or is code of the file.
    #[must_use]
    pub fn word(&self, address: u64) -> Option<Word> {
        let address = address & COMMON;
        let of_file = || {
            let (start, code) = self.code.range(..=address).next_back()?;
            code.get(usize::try_from(address - start).ok()?..)?.first_chunk::<4>()
        };
        let bytes = self.found.get(&address).or_else(of_file)?;
        Some(Word(if self.is_big_endian {
            u32::from_be_bytes(*bytes)
        } else {
            u32::from_le_bytes(*bytes)
        }))
    }

    /// What lies at `address`.
    #[must_use]
    pub fn place(&self, address: u64) -> Place {
        let address = address & COMMON;
        let word = self.word(address);
        let is_known = self.has_ends || word.is_some();
        let symbol = self.symbols.range(..=address).next_back().filter(|_| is_known);
        let instruction = word.map(|word| in_assembly(word, address)).unwrap_or_default();
        match symbol {
            Some((start, Some(name))) => Place {
                function: name.clone(),
                offset: address - start,
                inlined: self.inlined.at(self.high | address),
                instruction,
            },
            _ => Place {
                function: format!("{address:#x}"),
                offset: 0,
                inlined: Vec::new(),
                instruction,
            },
        }
    }

    /// What lies at `address` of a program that interrupts come to, where its symbols do not tell: the
    /// vector.
    fn place_of_host(&self, address: u64) -> Place {
        let place = self.place(address);
        let address = address & COMMON;
        let is_relocated = (AIL3_BASE & COMMON..AIL3_BASE & COMMON | 0x1FFF).contains(&address);
        let from_base = if is_relocated { address - (AIL3_BASE & COMMON) } else { address };
        let vector = Vector::ALL.iter().rev().find(|vector| vector.offset() <= from_base);
        let is_named = !place.function.starts_with("0x");
        let Some(vector) = vector.filter(|_| !is_named && from_base < 0x2000) else {
            return place;
        };
        let door = if is_relocated { ", relocation on" } else { "" };
        let function = format!("vector of {}{door}", vector.name());
        Place { function, offset: from_base - vector.offset(), ..place }
    }
}

/// `word` in assembly, with the name of the register that `mfspr` and `mtspr` have by number. What is an instruction
/// only in the other byte order was executed in that.
fn in_assembly(word: Word, address: u64) -> String {
    use arch::instruction::Mnemonic::{Mfspr, Mtspr};
    let other = Word(word.0.swap_bytes());
    let word = if decode(word).is_none() && decode(other).is_some() { other } else { word };
    let text = disassemble(word, address).to_string();
    let text = text.split_whitespace().collect::<Vec<_>>().join(" ");
    let is_move = decode(word).is_some_and(|row| matches!(row.mnemonic, Mfspr | Mtspr));
    let register = SprRow::of_number(word.spr()).filter(|_| is_move);
    register.map_or_else(|| text.clone(), |register| format!("{text} ({})", register.name))
}

/// What lies at an address.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Place {
    /// The function, or the address if no symbol is known.
    pub function: String,
    /// Bytes from the function's start.
    pub offset: u64,
    /// The functions that the compiler has put there, one into the other, the outermost first.
    pub inlined: Vec<String>,
    /// In assembly.
    pub instruction: String,
}

/// The programs of a run.
#[derive(Clone, Debug, Default)]
pub struct Names {
    /// What runs with MSR\[HV\]=1 and MSR\[PR\]=0.
    pub host: Program,
    /// Whether that is a kernel of its own, and not the hypervisor.
    pub is_bare: bool,
    /// By LPID: the partition's name and what runs in it.
    pub partitions: BTreeMap<u32, (String, Program)>,
}

impl Names {
    fn partition(&self, lpid: u32) -> String {
        self.partitions.get(&lpid).map_or_else(|| format!("LPID {lpid}"), |(name, _)| name.clone())
    }

    /// Notes what lies in memory where a bare kernel was charged: it patches itself, and its file may not be known.
    pub fn note_memory(&mut self, machine: &Machine) {
        let Some(charges) = machine.charges().filter(|_| self.is_bare) else { return };
        let is_kernels = |owner| matches!(owner, Owner::Host | Owner::Serving { .. });
        let lines = charges.lines().filter(|line| is_kernels(line.owner));
        let found = |address| Some((address, machine.code_at(0, address)?));
        let code: BTreeMap<u64, [u8; 4]> =
            lines.map(|line| line.address).filter_map(found).collect();
        let shared = &machine.state().shared;
        let hile = shared.processor.facts().hid0.little_endian;
        self.host.found(code, shared.cores[0].spr(Spr::Hid0) & hile == 0);
    }

    /// An owner as reports write it.
    #[must_use]
    pub fn owner(&self, owner: Owner) -> String {
        match owner {
            Owner::Partition { lpid } => format!("partition {}", self.partition(lpid)),
            Owner::Serving { lpid, vector } => {
                let interrupt = Vector::from_offset(vector)
                    .map_or_else(|| format!("{vector:#x}"), |vector| vector.name().to_owned());
                format!("hypervisor: {interrupt} of {}", self.partition(lpid))
            }
            Owner::Host if self.is_bare => "kernel".to_owned(),
            Owner::Host => "hypervisor".to_owned(),
            Owner::Program => "programs".to_owned(),
            Owner::Firmware => "firmware".to_owned(),
            Owner::Idle => "idle".to_owned(),
        }
    }

    /// What `owner` executed at `address`.
    #[must_use]
    pub fn place(&self, owner: Owner, address: u64) -> Place {
        let named = |function: &str| Place {
            function: function.to_owned(),
            offset: 0,
            inlined: Vec::new(),
            instruction: String::new(),
        };
        match owner {
            Owner::Partition { lpid } => match self.partitions.get(&lpid) {
                Some((_, program)) => program.place(address),
                None => Program::default().place(address),
            },
            Owner::Serving { .. } | Owner::Host => self.host.place_of_host(address),
            Owner::Program => Program::default().place(address),
            Owner::Firmware => named("OPAL"),
            Owner::Idle => named("waiting"),
        }
    }
}

#[cfg(test)]
mod tests {
    use std::{env, fs};

    use simulator::ledger::Owner;

    use arch::instruction::Word;

    use super::{Names, Program, in_assembly};

    #[test]
    fn a_program_without_symbols_has_addresses() {
        let place = Program::of_elf(b"flat").place(0xC000_0000_0000_1234);
        assert_eq!((place.function.as_str(), place.offset), ("0x1234", 0));
        assert_eq!(place.instruction, "");
    }

    #[test]
    fn the_last_function_ends_with_its_section() {
        let file = fs::read(env::current_exe().unwrap()).unwrap();
        let mut program = Program::of_elf(&file);
        assert!(program.has_symbols());
        let beyond = 0x0FFF_FFFF_0000_0000;
        program.found([(beyond, [0; 4])].into(), false);
        assert_eq!(program.place(beyond).function, format!("{beyond:#x}"));
    }

    #[test]
    fn symbols_hold_with_relocation_on_and_off() {
        let program = Program {
            symbols: [(0x100, Some("enter".to_owned())), (0x200, Some("leave".to_owned()))].into(),
            code: [(0x100, 0x7C7E_4AA6u32.to_be_bytes().repeat(0x80))].into(),
            is_big_endian: true,
            ..Program::default()
        };
        let place = program.place(0xC000_0000_0000_0204);
        assert_eq!((place.function.as_str(), place.offset), ("leave", 4));
        assert_eq!(place.instruction, "mfspr r3,318 (LPCR)");
        assert_eq!(program.place(0x1FC).function, "enter");
        assert_eq!(in_assembly(Word(0x2402_004C), 0), "hrfid", "of the other byte order");
        assert_eq!(program.place(0x300).function, "0x300", "beyond the code");
    }

    #[test]
    fn vectors_have_the_names_of_their_interrupts() {
        let names = Names::default();
        let place = names.place(Owner::Host, 0xC000_0000_0000_4C04);
        assert_eq!(
            (place.function.as_str(), place.offset),
            ("vector of System Call, relocation on", 4)
        );
        assert_eq!(names.place(Owner::Host, 0xC08).function, "vector of System Call");
        assert_eq!(names.place(Owner::Host, 0x9000).function, "0x9000");
    }

    #[test]
    fn owners_have_the_names_of_partitions_and_interrupts() {
        let names = Names {
            partitions: [(1, ("alpha".to_owned(), Program::default()))].into(),
            ..Names::default()
        };
        assert_eq!(names.owner(Owner::Partition { lpid: 1 }), "partition alpha");
        assert_eq!(names.owner(Owner::Partition { lpid: 7 }), "partition LPID 7");
        let bare = Names { is_bare: true, ..Names::default() };
        assert_eq!(
            [Owner::Host, Owner::Program].map(|owner| bare.owner(owner)),
            ["kernel", "programs"]
        );
        assert_eq!(
            names.owner(Owner::Serving { lpid: 1, vector: 0xC00 }),
            "hypervisor: System Call of alpha"
        );
    }
}
