//! Where a machine's console goes: standard output, or one partition's there and the rest to standard
//! error.

use crate::failure::Failure;
use crate::output::{print, print_error};

use lab::bundle::Consoles;
use lab::demultiplex::{Demultiplexer, Parted};
use serde::{Deserialize, Serialize};

/// Enough of a console's end to hold what the hypervisor says last: of a thousand partitions.
const TAIL_BYTES: usize = 0x10_0000;

/// A console that is shown, with a memory of what was shown last. Plain data: a saved machine has it.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
pub struct Screen {
    demultiplexer: Option<Demultiplexer>,
    tail: Vec<u8>,
}

impl Screen {
    /// A screen for these partitions.
    #[must_use]
    pub fn new(consoles: &Consoles) -> Self {
        let demultiplexer = consoles.console.as_deref().map(Demultiplexer::new);
        Self { demultiplexer, tail: Vec::new() }
    }

    /// Shows the console's next bytes.
    pub fn show(&mut self, bytes: &[u8]) -> Result<(), Failure> {
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
    pub fn tail(&self) -> &[u8] {
        &self.tail
    }
}
