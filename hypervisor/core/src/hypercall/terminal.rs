//! H_PUT_TERM_CHAR and H_GET_TERM_CHAR: up to 16 characters in two doublewords, packed big-endian.

use arch::papr::status::{H_PARAMETER, H_SUCCESS};

use super::Answer;
use crate::console::Console;
use crate::devices::unit;
use crate::hal::{Memory, Platform};
use crate::partition::{Partition, Terminal};

const CHARACTERS_MAX: usize = 16;

/// Terminal 0 is the first one, which is the only one.
fn is_ours(terminal: u64) -> bool {
    terminal == 0 || terminal == u64::from(unit::TERMINAL)
}

#[inline(never)]
pub(super) fn put<H: Memory + Platform>(
    partition: &mut Partition<H>,
    hal: &H,
    console: &Console,
    terminal: u64,
    length: u64,
    characters: [u64; 2],
) -> Answer {
    if !is_ours(terminal) || length > CHARACTERS_MAX as u64 {
        return Answer::Status(H_PARAMETER);
    }
    console.guest(hal, partition, &unpack(characters)[..length as usize]);
    Answer::Status(H_SUCCESS)
}

#[inline(never)]
pub(super) fn get<H: Memory + Platform>(
    partition: &Partition<H>,
    hal: &H,
    terminal: u64,
) -> Answer {
    if !is_ours(terminal) {
        return Answer::Status(H_PARAMETER);
    }
    let mut characters = [0; CHARACTERS_MAX];
    let length = match partition.terminal {
        Terminal::Output => 0,
        Terminal::Input | Terminal::Interactive => hal.console_read(&mut characters),
    };
    let [first, second] = pack(characters);
    Answer::Outputs(H_SUCCESS, [length as u64, first, second])
}

fn unpack(words: [u64; 2]) -> [u8; CHARACTERS_MAX] {
    core::array::from_fn(|index| words[index / 8].to_be_bytes()[index % 8])
}

fn pack(characters: [u8; CHARACTERS_MAX]) -> [u64; 2] {
    core::array::from_fn(|word| {
        u64::from_be_bytes(core::array::from_fn(|byte| characters[8 * word + byte]))
    })
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::{pack, unpack};

    #[test]
    fn the_first_character_is_the_most_significant_byte() {
        assert_eq!(unpack([0x4142_4344_4546_4748, 0x4950_0000_0000_0000])[..10], *b"ABCDEFGHIP");
        assert_eq!(
            pack(*b"ABCDEFGHIP\0\0\0\0\0\0"),
            [0x4142_4344_4546_4748, 0x4950_0000_0000_0000]
        );
    }
}
