//! The console: lines of the hypervisor, and the output of partitions between them.
//!
//! A partition that has the machine for itself has the console for itself: what it writes goes out as it comes,
//! but for the doubled [`CONTINUED`]. Partitions that share the machine are told apart by line, as
//! [`arch::console`] says. A line is held back until it is whole, but not that of the partition that the
//! console is for: somebody waits for its prompt.

use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;
use core::fmt::{self, Write};

use arch::console::CONTINUED;
use arch::record::{Record, START};

use crate::hal::{Memory, Platform};
use crate::partition::line::LINE_BYTES_MAX;
use crate::partition::{Partition, Terminal};
use crate::sync::Lock;

/// What every line of the hypervisor begins with.
pub const PREFIX: &str = arch::console::HYPERVISOR;

/// The console, as all partitions and hardware threads share it.
#[derive(Debug)]
pub struct Console {
    state: Lock<State>,
}

#[derive(Debug)]
struct State {
    /// Whether the cursor is at the start of a line.
    at_line_start: bool,
    /// Whether there are several partitions.
    is_shared: bool,
}

impl Default for Console {
    fn default() -> Self {
        Self { state: Lock::new(State { at_line_start: true, is_shared: false }) }
    }
}

impl Console {
    /// Writes one line of the hypervisor, on a line of its own.
    pub fn line<H: Platform>(&self, hal: &H, text: fmt::Arguments<'_>) {
        let mut state = self.state.lock();
        let mut line = String::from(state.line_start());
        // Writing to a String does not fail.
        let _ = writeln!(line, "{PREFIX}{text}");
        hal.console_write(line.as_bytes());
        state.at_line_start = true;
    }

    /// Writes what the hypervisor counted, on a line of its own.
    pub fn record<H: Platform>(&self, hal: &H, record: &Record<'_>) {
        let mut state = self.state.lock();
        let mut line = String::from(state.line_start());
        // Writing to a String does not fail.
        let _ = writeln!(line, "{START}{record}");
        hal.console_write(line.as_bytes());
        state.at_line_start = true;
    }

    /// Says whether several partitions write to the console.
    pub fn set_shared(&self, is_shared: bool) {
        self.state.lock().is_shared = is_shared;
    }

    /// Writes what a partition wrote.
    pub fn guest<H: Memory + Platform>(&self, hal: &H, partition: &mut Partition<H>, bytes: &[u8]) {
        let Some(last) = bytes.last() else { return };
        partition.is_heard = true;
        let mut state = self.state.lock();
        if !state.is_shared {
            if bytes.contains(&CONTINUED) {
                let mut out = Vec::new();
                bytes.iter().for_each(|byte| push(&mut out, *byte));
                hal.console_write(&out);
            } else {
                hal.console_write(bytes);
            }
            state.at_line_start = *last == b'\n';
            return;
        }
        if partition.terminal == Terminal::Interactive {
            return state.interactive(hal, partition, bytes);
        }
        drop(state);
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
    pub fn finish<H: Memory + Platform>(&self, hal: &H, partition: &mut Partition<H>) {
        if !partition.unfinished_line.is_empty() {
            self.whole_line(hal, partition);
        }
    }

    fn whole_line<H: Memory + Platform>(&self, hal: &H, partition: &mut Partition<H>) {
        let mut state = self.state.lock();
        let mut line = format!("{}[{}] ", state.line_start(), partition.name).into_bytes();
        line.append(&mut partition.unfinished_line);
        line.push(b'\n');
        hal.console_write(&line);
        state.at_line_start = true;
    }
}

impl State {
    /// Writes what the partition wrote that the console is for. Whoever else writes ends its line.
    fn interactive<H: Memory + Platform>(
        &mut self,
        hal: &H,
        partition: &Partition<H>,
        bytes: &[u8],
    ) {
        let mut out = Vec::new();
        for byte in bytes {
            if self.at_line_start {
                out.extend(format!("[{}] ", partition.name).bytes());
            }
            push(&mut out, *byte);
            self.at_line_start = *byte == b'\n';
        }
        hal.console_write(&out);
    }

    /// What has to be written before a new line.
    const fn line_start(&self) -> &'static str {
        match (self.at_line_start, self.is_shared) {
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
