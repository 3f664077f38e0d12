//! The memory of a chip: its channels, and buffers with an L4 where it has them.
//!
//! POWER9 reaches memory directly; what it reads and writes takes its time on the same channels. POWER8 has buffers
//! between, each with a link for what is read, one for what is written, and a cache: the L4. That is memory's, and
//! holds what any core reads or writes there, a line in one of its places by the line's number alone.

use serde::{Deserialize, Serialize};

use super::LINE_LOG2;
use super::array::Array;
use super::bandwidth::Bandwidth;
use super::parameters::{CacheParameters, MemoryParameters};
use crate::ledger::Clock;

/// A chip's memory.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct Memory {
    channels: Vec<Bandwidth>,
    buffers: Option<Buffers>,
    /// How many cycles it takes to write as many lines as wait in front of a channel.
    write_queue: u64,
}

/// What stands in front of it.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
struct Buffers {
    writes: Vec<Bandwidth>,
    l4: Array<()>,
}

/// A line that was read.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Found {
    /// The cycle at which its channel begins to pass it.
    pub begin: u64,
    /// The L4 had it.
    pub is_in_l4: bool,
}

impl Memory {
    /// A memory with nothing in its L4.
    #[must_use]
    pub fn new(parameters: &MemoryParameters, clock: Clock) -> Self {
        let cycles = |bandwidth: u64| {
            let lines_per_second = bandwidth as f64 * 1e6 / (1 << LINE_LOG2) as f64;
            clock.core_hz as f64 * parameters.channels as f64 / lines_per_second
        };
        let channels =
            |bandwidth| vec![Bandwidth::new(cycles(bandwidth)); parameters.channels as usize];
        let queue = |bandwidth| (cycles(bandwidth) * parameters.write_queue as f64) as u64;
        let MemoryParameters { l4_bytes, l4_ways, .. } = *parameters;
        if !parameters.has_buffers() {
            return Self {
                channels: channels(parameters.bandwidth),
                buffers: None,
                write_queue: queue(parameters.bandwidth),
            };
        }
        let l4 = Array::new(CacheParameters::sets(l4_bytes, l4_ways), l4_ways);
        let writes = channels(parameters.write_bandwidth);
        Self {
            channels: channels(parameters.read_bandwidth),
            buffers: Some(Buffers { writes, l4 }),
            write_queue: queue(parameters.write_bandwidth),
        }
    }

    /// Which channel a line lies in is not published; higher bits of its number are mixed in, so that no stride keeps
    /// one channel busy.
    fn channel(line: u64, channels: usize) -> usize {
        (line ^ line >> 7 ^ line >> 14) as usize % channels
    }

    /// Reads a line from cycle `at` on. `None` if its channel is busy for longer than `patience`; then nothing has
    /// changed.
    pub fn read(&mut self, line: u64, at: u64, patience: u64) -> Option<Found> {
        let channel = Self::channel(line, self.channels.len());
        let begin = self.channels[channel].reserve(at, patience)?;
        let is_in_l4 = self.buffers.as_mut().is_some_and(|buffers| buffers.l4.use_or_install(line));
        Some(Found { begin, is_in_l4 })
    }

    /// Writes a line back, which takes its time on the channel: the cycle at which the queue in front of that has room
    /// for it. Nobody waits for more.
    pub fn write(&mut self, line: u64, at: u64) -> u64 {
        let channel = Self::channel(line, self.channels.len());
        let channels = match &mut self.buffers {
            Some(buffers) => {
                buffers.l4.use_or_install(line);
                &mut buffers.writes
            }
            None => &mut self.channels,
        };
        let begin = channels[channel].reserve(at, u64::MAX).unwrap_or(at);
        at.max(begin.saturating_sub(self.write_queue))
    }
}

impl Array<()> {
    /// Uses a line of the memory's own, which no side has; puts it in if it is not here. Whether it was.
    fn use_or_install(&mut self, line: u64) -> bool {
        let is_here = self.touch(line, None).is_some();
        if !is_here {
            self.install(line, None, (), None);
        }
        is_here
    }
}

#[cfg(test)]
mod tests {
    use super::{Found, Memory};
    use crate::cache::parameters::MemoryParameters;
    use crate::ledger::Clock;

    const CLOCK: Clock = Clock { core_hz: 1_000_000_000, timebase_hz: 500_000_000 };

    #[test]
    fn an_l4_has_what_was_read_or_written_last() {
        let parameters = MemoryParameters {
            channels: 1,
            read_bandwidth: 12_800,
            write_bandwidth: 6400,
            l4_bytes: 1024,
            l4_ways: 2,
            ..MemoryParameters::default()
        };
        let mut memory = Memory::new(&parameters, CLOCK);
        let read = |memory: &mut Memory, line, at| memory.read(line, at, u64::MAX).unwrap();
        assert_eq!(read(&mut memory, 0, 0), Found { begin: 0, is_in_l4: false });
        memory.write(4, 0);
        assert_eq!(read(&mut memory, 4, 0), Found { begin: 10, is_in_l4: true });
        assert!(read(&mut memory, 0, 100).is_in_l4);
        // Three lines of one place, which has room for two: 4 was used longest ago.
        read(&mut memory, 8, 200);
        assert!(!read(&mut memory, 4, 300).is_in_l4);
        // What is written keeps no read from passing.
        memory.write(12, 400);
        assert_eq!(read(&mut memory, 16, 400).begin, 400);
    }

    #[test]
    fn what_is_written_directly_takes_the_channel_of_what_is_read() {
        let parameters =
            MemoryParameters { channels: 1, bandwidth: 12_800, ..MemoryParameters::default() };
        let mut memory = Memory::new(&parameters, CLOCK);
        memory.write(0, 0);
        assert_eq!(memory.read(0, 0, u64::MAX), Some(Found { begin: 10, is_in_l4: false }));
        assert_eq!(memory.read(0, 0, 5), None);
    }
}
