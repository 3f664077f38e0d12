//! Where a machine's console goes: standard output, or one partition's there and the rest to standard
//! error.

use crate::failure::Failure;
use crate::output::{print, print_error};

use lab::bundle::Consoles;
use lab::console::{Said, lines};
use lab::demultiplex::{Demultiplexer, Parted};
use lab::record::Reader;
use serde::{Deserialize, Serialize};

/// Enough of a console's end to hold what the hypervisor says last.
const TAIL_BYTES: usize = 0x10_0000;

/// A console that is shown, with a memory of what was shown last. Plain data: a saved machine has it.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
pub struct Screen {
    /// Where the hypervisor runs.
    reader: Option<Reader>,
    demultiplexer: Option<Demultiplexer>,
    tail: Vec<u8>,
}

impl Screen {
    /// A screen for these partitions, or for a bare kernel if there are none.
    #[must_use]
    pub fn new(consoles: &Consoles) -> Self {
        let is_shared = consoles.partitions.len() > 1 || consoles.console.is_some();
        Self {
            reader: (!consoles.partitions.is_empty()).then(|| Reader::new(is_shared)),
            demultiplexer: consoles.console.as_deref().map(Demultiplexer::new),
            tail: Vec::new(),
        }
    }

    /// Shows the console's next bytes.
    pub fn show(&mut self, bytes: &[u8]) -> Result<(), Failure> {
        let read = self.reader.as_mut().map(|reader| reader.pass(bytes));
        let bytes = read.as_deref().unwrap_or(bytes);
        self.tail.extend(bytes);
        if self.tail.len() > 2 * TAIL_BYTES {
            self.tail.drain(..self.tail.len() - TAIL_BYTES);
        }
        let Some(demultiplexer) = &mut self.demultiplexer else { return print(bytes) };
        let Parted { own, others } = demultiplexer.pass(bytes);
        print_error(&others);
        if own.is_empty() { Ok(()) } else { print(&own) }
    }

    /// The last of what was shown.
    #[must_use]
    pub fn said(&self) -> Said {
        let record = self.reader.as_ref().and_then(|reader| reader.found.clone());
        Said { lines: lines(&self.tail), record }
    }
}
