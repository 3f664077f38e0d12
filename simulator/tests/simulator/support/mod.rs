//! Small big-endian programs in place of a kernel.

use arch::instruction::{Mnemonic, Word, encode};
use arch::opal::token;
use simulator::{Boot, Description, Machine, NoObserver, RunState};

/// A program under construction.
#[derive(Default)]
pub(crate) struct Program(pub(crate) Vec<u8>);

impl Program {
    /// Appends an instruction.
    pub(crate) fn op(self, mnemonic: Mnemonic, operands: &[i64]) -> Self {
        let word = encode(mnemonic, operands, false, false)
            .unwrap_or_else(|error| panic!("{mnemonic:?} {operands:?}: {error:?}"));
        self.word(word)
    }

    /// Appends a word.
    pub(crate) fn word(mut self, word: Word) -> Self {
        self.0.extend(word.0.to_be_bytes());
        self
    }

    /// Sets GPR `register` to any value.
    pub(crate) fn set(self, register: i64, value: u64) -> Self {
        let part = |shift: u32| (value >> shift & 0xFFFF) as i64;
        let signed = |shift: u32| i64::from((value >> shift) as i16);
        self.op(Mnemonic::Addis, &[register, 0, signed(48)])
            .op(Mnemonic::Ori, &[register, register, part(32)])
            .op(Mnemonic::Rldicr, &[register, register, 32, 31])
            .op(Mnemonic::Oris, &[register, register, part(16)])
            .op(Mnemonic::Ori, &[register, register, part(0)])
    }

    /// Stores `value` at `address`; loses r8 and r9.
    pub(crate) fn store(self, address: u64, value: u64) -> Self {
        self.set(8, address).set(9, value).op(Mnemonic::Std, &[9, 0, 8])
    }

    /// Maps the first GiB to itself, in one page, for the hypervisor's process 0 and for partition 1.
    pub(crate) fn identity_tables(self) -> Self {
        const PARTITIONS: u64 = 0x100_0000;
        const ROOT: u64 = 0x120_0000;
        const DIRECTORY: u64 = 0x130_0000;
        const PROCESSES: u64 = 0x140_0000;
        let root = 0x4000_0000_0000_00AD | ROOT;
        let host_radix = 1 << 63;
        self.store(PARTITIONS, host_radix | root)
            .store(PARTITIONS + 8, PROCESSES)
            .store(PARTITIONS + 16, host_radix | root)
            .store(PROCESSES, root)
            .store(ROOT, 0x8000_0000_0000_0009 | DIRECTORY)
            .store(DIRECTORY, 0xC000_0000_0000_018F)
            .set(3, PARTITIONS | 4)
            .op(Mnemonic::Mtspr, &[464, 3])
            // UPRT and HR.
            .set(3, 0x50_0000)
            .op(Mnemonic::Mtspr, &[318, 3])
    }

    /// Calls OPAL; the answer is in r3.
    pub(crate) fn opal(self, number: u64, arguments: &[u64]) -> Self {
        let mut program = self.set(0, number);
        for (register, &argument) in (3..).zip(arguments) {
            program = program.set(register, argument);
        }
        program
            .set(12, 0x3000_3760)
            .op(Mnemonic::Mtspr, &[9, 12])
            .op(Mnemonic::Bcctr, &[20, 0, 0, 1])
    }

    /// Switches the machine off.
    pub(crate) fn power_off(self) -> Self {
        self.opal(token::CEC_POWER_DOWN, &[0]).opal(token::POLL_EVENTS, &[0]).forever()
    }

    /// Stays here.
    pub(crate) fn forever(self) -> Self {
        self.op(Mnemonic::B, &[0, 0, 0])
    }

    /// A machine at the program's first instruction.
    pub(crate) fn boot(self, change: impl FnOnce(&mut Description)) -> Machine {
        let text = include_str!("../../../../machines/power9.toml");
        let mut description = Description::from_toml(text).unwrap();
        description.set_watchdog_instructions(100_000);
        change(&mut description);
        let mut machine = Machine::new(description, 1);
        let boot = Boot { kernel: self.0, initrd: None, arguments: String::new() };
        machine.boot(&boot).unwrap();
        machine
    }

    pub(crate) fn run(self) -> (Machine, RunState) {
        let mut machine = self.boot(|_| {});
        let end = machine.run(10_000_000, &mut NoObserver);
        (machine, end)
    }

    /// Stays in `stop` and loses its state; the decrementer would end it after four seconds.
    pub(crate) fn forever_stopped(self) -> Self {
        self.set(3, 0x7FFF_FFFF)
            .op(Mnemonic::Mtspr, &[22, 3])
            .set(3, 0x30_0330)
            .op(Mnemonic::Mtspr, &[855, 3])
            .op(Mnemonic::Stop, &[])
    }
}

/// The description `text` with other words in place of these, all of which it has.
pub(crate) fn changed(text: &str, changes: &[(&str, &str)]) -> Description {
    let change = |text: String, (from, to): &(&str, &str)| {
        assert!(text.contains(from), "{from}");
        text.replace(from, to)
    };
    Description::from_toml(&changes.iter().fold(text.to_owned(), change)).unwrap()
}

/// The machine file `text`, whose processor has so many streams, with one that fetches nothing ahead by itself.
pub(crate) fn quiet(text: &str, streams: u32) -> Description {
    let streams = format!("streams = {{ value = {streams},");
    let scattered = ("scattered_lines = { value = 3", "scattered_lines = { value = 0");
    changed(text, &[(&streams, "streams = { value = 0,"), scattered])
}

/// The report of a machine that stopped.
pub(crate) fn report(end: RunState) -> String {
    match end {
        RunState::Stopped(report) => report.to_string(),
        other => panic!("expected a report, not {other:?}"),
    }
}

/// A core of two threads.
pub(crate) fn two_threads(description: &mut Description) {
    let text = include_str!("../../../../machines/power9.toml")
        .replace("threads_per_core = 1", "threads_per_core = 2");
    *description = Description::from_toml(&text).unwrap();
}
