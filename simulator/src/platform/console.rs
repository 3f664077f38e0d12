//! The firmware's console: a ring of output that polling drains, and that goes out when it is full
//! (`docs/facts/opal-and-powernv.md#tokens`), and input with its time.

use std::collections::VecDeque;

use serde::{Deserialize, Serialize};

/// Bytes that the ring takes before somebody polls: one less than its size, as skiboot's.
const RING_BYTES: usize = arch::opal::CONSOLE_RING_BYTES as usize - 1;

/// Input as it arrived: enough to replay it.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct Input {
    /// The machine's time, in its steps: instructions completed and interrupts taken.
    pub at_step: u64,
    /// The time base of the first core at that step.
    pub timebase: u64,
    /// What was typed.
    pub bytes: Vec<u8>,
}

/// The console of terminal 0.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
pub struct Console {
    ring: VecDeque<u8>,
    output: Vec<u8>,
    input: VecDeque<u8>,
    /// Input came that firmware has not fetched from the line: the line asks for attention.
    asks: bool,
    log: Vec<Input>,
    /// Reads that found nothing.
    in_vain: u64,
}

impl Console {
    /// Takes what fits of `bytes` and says how many that were.
    pub fn write(&mut self, bytes: &[u8]) -> usize {
        let room = self.room().min(bytes.len());
        self.ring.extend(&bytes[..room]);
        if self.room() == 0 {
            self.drain();
        }
        room
    }

    /// Bytes that fit the ring now.
    #[must_use]
    pub fn room(&self) -> usize {
        RING_BYTES - self.ring.len()
    }

    /// Sends everything in the ring out.
    pub fn drain(&mut self) {
        self.output.extend(self.ring.drain(..));
    }

    /// What was sent out since the last time somebody asked.
    pub fn take_output(&mut self) -> Vec<u8> {
        std::mem::take(&mut self.output)
    }

    /// Input arrives.
    pub fn type_in(&mut self, input: Input) {
        self.input.extend(&input.bytes);
        self.asks |= !input.bytes.is_empty();
        self.log.push(input);
    }

    /// Whether input waits.
    #[must_use]
    pub fn has_input(&self) -> bool {
        !self.input.is_empty()
    }

    /// Whether the line asks firmware to fetch input from it.
    #[must_use]
    pub fn asks(&self) -> bool {
        self.asks
    }

    /// Firmware fetches what came: it waits in firmware's buffer now, and the line asks for nothing.
    pub fn fetch(&mut self) {
        self.asks = false;
    }

    /// At most `most` bytes of input.
    pub fn read(&mut self, most: usize) -> Vec<u8> {
        self.fetch();
        let bytes = most.min(self.input.len());
        self.in_vain += u64::from(bytes == 0);
        self.input.drain(..bytes).collect()
    }

    /// How often nothing was there to be read.
    #[must_use]
    pub fn reads_in_vain(&self) -> u64 {
        self.in_vain
    }

    /// All input so far, with its times.
    #[must_use]
    pub fn log(&self) -> &[Input] {
        &self.log
    }
}

#[cfg(test)]
mod tests {
    use super::{Console, Input};

    #[test]
    fn a_write_longer_than_the_ring_takes_4095_bytes() {
        let mut console = Console::default();
        assert_eq!(console.write(&[b'x'; 6000]), 4095);
        assert_eq!(console.take_output().len(), 4095, "a full ring goes out");
        assert_eq!(console.write(b"y"), 1);
        assert!(console.take_output().is_empty());
        console.drain();
        assert_eq!(console.take_output(), b"y");
        assert!(console.take_output().is_empty());
    }

    #[test]
    fn input_is_read_in_order_and_logged() {
        let mut console = Console::default();
        assert!(!console.has_input());
        console.type_in(Input { at_step: 5, timebase: 1, bytes: b"abc".to_vec() });
        assert!(console.has_input() && console.asks());
        assert_eq!(console.read(2), b"ab");
        assert!(console.has_input() && !console.asks());
        assert_eq!(console.read(2), b"c");
        assert_eq!((console.log().len(), console.reads_in_vain()), (1, 0));
        assert!(console.read(2).is_empty());
        assert_eq!(console.reads_in_vain(), 1);
    }
}
