//! The console: lines of the hypervisor, and the output of partitions between them.
//!
//! A partition that has the machine for itself has the console for itself: what it writes goes out as
//! it comes. Partitions that share the machine are told apart by line, as [`arch::console`] says. A line
//! is held back until it is whole, but not that of the partition that the console is for: somebody
//! waits for its prompt.

use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;
use core::cell::Cell;
use core::fmt::{self, Write};

use arch::console::CONTINUED;

use crate::hal::Hal;
use crate::partition::{Partition, Terminal};

/// What every line of the hypervisor begins with.
pub const PREFIX: &str = arch::console::HYPERVISOR;

/// The longest line of a partition that is held back; a longer one is cut into several.
const LINE_BYTES_MAX: usize = 240;

/// The console, as all partitions share it.
#[derive(Debug)]
pub struct Console {
    /// Whether the cursor is at the start of a line.
    at_line_start: Cell<bool>,
    /// Whether there are several partitions.
    is_shared: Cell<bool>,
}

impl Default for Console {
    fn default() -> Self {
        Self { at_line_start: Cell::new(true), is_shared: Cell::new(false) }
    }
}

impl Console {
    /// Writes one line of the hypervisor, on a line of its own.
    pub fn line<H: Hal>(&self, hal: &H, text: fmt::Arguments<'_>) {
        let mut line = String::from(self.line_start());
        // Writing to a String does not fail.
        let _ = writeln!(line, "{PREFIX}{text}");
        hal.console_write(line.as_bytes());
        self.at_line_start.set(true);
    }

    /// Says whether several partitions write to the console.
    pub fn set_shared(&self, is_shared: bool) {
        self.is_shared.set(is_shared);
    }

    /// Writes what a partition wrote.
    pub fn guest<H: Hal>(&self, hal: &H, partition: &mut Partition<H>, bytes: &[u8]) {
        let Some(last) = bytes.last() else { return };
        if !self.is_shared.get() {
            hal.console_write(bytes);
            self.at_line_start.set(*last == b'\n');
            return;
        }
        if partition.terminal == Terminal::Interactive {
            return self.interactive(hal, partition, bytes);
        }
        for byte in bytes {
            if *byte == b'\n' {
                self.whole_line(hal, partition);
                continue;
            }
            if partition.unfinished_line.len() >= LINE_BYTES_MAX {
                partition.unfinished_line.push(CONTINUED);
                self.whole_line(hal, partition);
            }
            push(&mut partition.unfinished_line, *byte);
        }
    }

    /// Writes what a partition wrote behind its last line end: nothing more will come.
    pub fn finish<H: Hal>(&self, hal: &H, partition: &mut Partition<H>) {
        if !partition.unfinished_line.is_empty() {
            self.whole_line(hal, partition);
        }
    }

    /// Writes what the partition wrote that the console is for. Whoever else writes ends its line.
    fn interactive<H: Hal>(&self, hal: &H, partition: &Partition<H>, bytes: &[u8]) {
        let mut out = Vec::new();
        let mut at_line_start = self.at_line_start.get();
        for byte in bytes {
            if at_line_start {
                out.extend(format!("[{}] ", partition.name).bytes());
            }
            push(&mut out, *byte);
            at_line_start = *byte == b'\n';
        }
        hal.console_write(&out);
        self.at_line_start.set(at_line_start);
    }

    fn whole_line<H: Hal>(&self, hal: &H, partition: &mut Partition<H>) {
        let mut line = format!("{}[{}] ", self.line_start(), partition.name).into_bytes();
        line.append(&mut partition.unfinished_line);
        line.push(b'\n');
        hal.console_write(&line);
        self.at_line_start.set(true);
    }

    /// What has to be written before a new line.
    fn line_start(&self) -> &'static str {
        match (self.at_line_start.get(), self.is_shared.get()) {
            (true, _) => "",
            (false, false) => "\n",
            (false, true) => CONTINUED_LINE_END,
        }
    }
}

/// The end of a line whose writer has not ended it.
const CONTINUED_LINE_END: &str = match core::str::from_utf8(&[CONTINUED, b'\n']) {
    Ok(text) => text,
    Err(_) => unreachable!(),
};

/// A character of a partition's, such that it is not taken for [`CONTINUED`].
fn push(line: &mut Vec<u8>, byte: u8) {
    if byte == CONTINUED {
        line.push(byte);
    }
    line.push(byte);
}
