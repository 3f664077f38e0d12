//! Takes one partition's console out of the machine's: every byte that it wrote, and nothing else.
//!
//! How the hypervisor marks who writes is in [`arch::console`].

use arch::console::CONTINUED;
use serde::{Deserialize, Serialize};

/// Parts a console's bytes as they come; plain data, so that a saved machine can go on in mid-line.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct Demultiplexer {
    /// What the partition's lines begin with.
    prefix: Vec<u8>,
    state: State,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
enum State {
    /// So many bytes of a line are the prefix so far.
    Prefix(usize),
    /// In a line of the partition's.
    Own,
    /// In a line of the partition's, behind [`CONTINUED`].
    Marked,
    /// In a line of somebody else's.
    Other,
}

/// A piece of a console, parted.
#[derive(Clone, PartialEq, Eq, Default, Debug)]
pub struct Parted {
    /// What the partition wrote.
    pub own: Vec<u8>,
    /// The lines of everybody else.
    pub others: Vec<u8>,
}

impl Demultiplexer {
    /// For the partition with this name.
    #[must_use]
    pub fn new(name: &str) -> Self {
        Self { prefix: format!("[{name}] ").into_bytes(), state: State::Prefix(0) }
    }

    /// Parts the next bytes of the console.
    pub fn pass(&mut self, bytes: &[u8]) -> Parted {
        let mut parted = Parted::default();
        for &byte in bytes {
            self.state = self.next(byte, &mut parted);
        }
        parted
    }

    fn next(&self, byte: u8, Parted { own, others }: &mut Parted) -> State {
        match self.state {
            State::Prefix(seen) if byte == self.prefix[seen] => {
                if seen + 1 == self.prefix.len() {
                    State::Own
                } else {
                    State::Prefix(seen + 1)
                }
            }
            State::Prefix(seen) => {
                others.extend(&self.prefix[..seen]);
                others.push(byte);
                if byte == b'\n' { State::Prefix(0) } else { State::Other }
            }
            State::Other => {
                others.push(byte);
                if byte == b'\n' { State::Prefix(0) } else { State::Other }
            }
            State::Own if byte == CONTINUED => State::Marked,
            State::Own => {
                own.push(byte);
                if byte == b'\n' { State::Prefix(0) } else { State::Own }
            }
            // The line end is not the partition's, nor what firmware puts before it.
            State::Marked if byte == b'\n' => State::Prefix(0),
            State::Marked if byte == b'\r' => State::Marked,
            State::Marked => {
                own.push(byte);
                State::Own
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{Demultiplexer, Parted};

    fn part(console: &[u8], size: usize) -> (String, String) {
        let mut demultiplexer = Demultiplexer::new("one");
        let mut all = Parted::default();
        for piece in console.chunks(size) {
            let Parted { own, others } = demultiplexer.pass(piece);
            all.own.extend(own);
            all.others.extend(others);
        }
        (String::from_utf8(all.own).unwrap(), String::from_utf8(all.others).unwrap())
    }

    #[test]
    fn every_byte_of_the_partitions_comes_back_however_the_console_is_cut() {
        let console =
            b"powervisor: 1\n[one] a\n[one] prom\x17\n[two] b\n[o] c\n[one] pt \x17\x17\x17\r\n\
            [one] \x17\x17\n\n[one]no\n[one] [one] > ";
        for size in 1..console.len() {
            let (own, others) = part(console, size);
            assert_eq!(own, "a\nprompt \x17\x17\n[one] > ", "pieces of {size}");
            assert_eq!(others, "powervisor: 1\n[two] b\n[o] c\n\n[one]no\n", "pieces of {size}");
        }
    }

    #[test]
    fn a_prompt_is_not_held_back() {
        let mut demultiplexer = Demultiplexer::new("one");
        assert_eq!(demultiplexer.pass(b"[one] > ").own, b"> ");
        assert_eq!(demultiplexer.pass(b"[").others, b"");
        // A line of its own goes on; the next one only begins like one of its lines.
        assert_eq!(demultiplexer.pass(b"x\n[on\n[one] ").others, b"[on\n");
        assert_eq!(demultiplexer.pass(b"y").own, b"y");
    }
}
