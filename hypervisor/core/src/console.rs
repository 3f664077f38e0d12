//! The console: lines of the hypervisor, and the output of partitions between them.
//!
//! A partition that has the machine for itself has the console for itself: what it writes goes out as
//! it comes. Partitions that share the machine are told apart by line: each line begins with
//! `[name] `, and is held back until it is whole, so that no partition writes into another's.

use alloc::format;
use alloc::string::String;
use core::cell::Cell;
use core::fmt::{self, Write};

use crate::hal::Hal;
use crate::partition::Partition;

/// What every line of the hypervisor begins with.
pub const PREFIX: &str = "powervisor: ";

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
        let mut line = String::new();
        if !self.at_line_start.get() {
            line.push('\n');
        }
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
        for byte in bytes {
            if *byte == b'\n' || partition.unfinished_line.len() == LINE_BYTES_MAX {
                self.whole_line(hal, partition);
            }
            if *byte != b'\n' {
                partition.unfinished_line.push(*byte);
            }
        }
    }

    /// Writes what a partition wrote behind its last line end: nothing more will come.
    pub fn finish<H: Hal>(&self, hal: &H, partition: &mut Partition<H>) {
        if !partition.unfinished_line.is_empty() {
            self.whole_line(hal, partition);
        }
    }

    fn whole_line<H: Hal>(&self, hal: &H, partition: &mut Partition<H>) {
        let mut line = format!("[{}] ", partition.name).into_bytes();
        line.append(&mut partition.unfinished_line);
        line.push(b'\n');
        hal.console_write(&line);
        self.at_line_start.set(true);
    }
}
