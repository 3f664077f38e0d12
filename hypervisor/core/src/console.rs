//! The console: lines of the hypervisor, and the raw output of partitions between them.

use alloc::string::String;
use core::cell::Cell;
use core::fmt::{self, Write};

use crate::hal::Hal;

/// What every line of the hypervisor begins with.
pub const PREFIX: &str = "powervisor: ";

/// Whether the console's cursor is at the start of a line.
#[derive(Debug)]
pub struct Console {
    at_line_start: Cell<bool>,
}

impl Default for Console {
    fn default() -> Self {
        Self { at_line_start: Cell::new(true) }
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

    /// Writes what a partition wrote.
    pub fn guest<H: Hal>(&self, hal: &H, bytes: &[u8]) {
        if let Some(last) = bytes.last() {
            hal.console_write(bytes);
            self.at_line_start.set(*last == b'\n');
        }
    }
}
