//! H_RTAS: calls through an argument buffer of big-endian words in the guest's memory,
//! `{token, count of arguments, count of results, arguments..., results...}`.

use arch::address::GuestRealAddress;
use arch::papr::rtas::{PARAMETER, POWER_OFF};
use arch::papr::status::{H_PARAMETER, H_SUCCESS};

use super::Answer;
use crate::hal::Hal;
use crate::partition::{Outcome, Partition, StopReason};
use crate::second_stage;

const WORD: u64 = 4;
/// PAPR's limit of arguments and results together.
const WORDS_MAX: u32 = 16;

pub(super) fn call<H: Hal>(partition: &mut Partition<H>, hal: &H, buffer: u64) -> Answer {
    let buffer = GuestRealAddress(buffer);
    let mut words = [0; 3];
    for (index, word) in words.iter_mut().enumerate() {
        let mut bytes = [0; WORD as usize];
        let address = buffer.wrapping_add(index as u64 * WORD);
        if let Err(reason) = second_stage::read(partition, hal, address, &mut bytes) {
            return refused(reason);
        }
        *word = u32::from_be_bytes(bytes);
    }
    let [token, arguments, results] = words;
    if arguments > WORDS_MAX || results > WORDS_MAX {
        return Answer::Status(H_PARAMETER);
    }
    match (token, arguments, results) {
        (POWER_OFF, 2, 1) => Answer::end(Outcome::PoweredOff),
        (_, _, 0) => Answer::Status(H_PARAMETER),
        // The first result is the RTAS status; the call itself was carried out.
        _ => {
            let status = buffer.wrapping_add(u64::from(3 + arguments) * WORD);
            match second_stage::write(partition, hal, status, &PARAMETER.to_be_bytes()) {
                Ok(()) => Answer::Status(H_SUCCESS),
                Err(reason) => refused(reason),
            }
        }
    }
}

fn refused(reason: StopReason) -> Answer {
    match reason {
        StopReason::OutsideMemory(_) => Answer::Status(H_PARAMETER),
        other => Answer::end(Outcome::Stopped(other)),
    }
}
