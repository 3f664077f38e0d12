//! Instructions that wait. `wait`: Power ISA 3.0B Book II; the instructions of power saving are each processor's own.
//!
//! The instruction completes and the thread waits: how deep it sleeps is in `machine::power`, what ends
//! the wait in `interrupt::wake`, and what was lost then in `power_saving`.

mod power8;
pub mod power9;

use arch::instruction::{Mnemonic, Word};

use super::{Flow, Handler, Mode, Outcome};
use crate::state::power_saving::{Asked, Reached};
use crate::state::shared::Shared;
use crate::state::thread::{Activity, Thread};

/// The handler of an instruction that waits.
pub fn handler(mnemonic: Mnemonic, _: Word, _: Mode) -> Option<Handler> {
    match mnemonic {
        Mnemonic::Wait => Some(wait),
        Mnemonic::Stop => Some(power9::stop),
        _ => power8::handler(mnemonic),
    }
}

/// With WC=0, the only kind that ISA 3.0 defines.
fn wait(thread: &mut Thread, shared: &mut Shared, _: Word) -> Outcome {
    thread.activity = Activity::Waiting;
    shared.call_attention();
    Ok(Flow::Synchronize)
}

/// The thread enters power saving as `asked`.
fn save(thread: &mut Thread, shared: &mut Shared, asked: Asked) -> Outcome {
    thread.activity = Activity::Stopped;
    thread.asked = asked;
    thread.reached = Reached::default();
    shared.call_attention();
    Ok(Flow::Synchronize)
}
