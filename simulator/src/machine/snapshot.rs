//! Saving a machine and making it again.
//!
//! A snapshot is the whole [`State`]: running to a point, saving, restoring and running on is the same
//! as running on. Only frames of memory that were ever written are in it.

use arch::marker::Mark;
use serde::{Deserialize, Serialize};

use super::{Machine, siblings};
use crate::description::Description;
use crate::machine::state::State;
use crate::pipeline::{Plan, Timing};
use crate::platform::Platform;
use crate::state::cores::Core;
use crate::state::memory::flags;
use crate::state::shared::Signals;
use crate::state::thread::Thread;
use crate::state::xics::Xics;

/// First bytes of every snapshot; the digit changes when the format does.
const MAGIC: [u8; 8] = *b"PVSNAP\x00\x0D";

/// Why a snapshot cannot be restored.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
pub enum SnapshotError {
    /// The bytes do not begin as a snapshot of this version does.
    #[error("not a snapshot, or one of another version of the simulator")]
    NotASnapshot,
    /// The bytes are cut or garbled.
    #[error("the snapshot is damaged: {0}")]
    Damaged(String),
}

#[derive(Serialize, Deserialize)]
struct Saved<'a> {
    description: Description,
    seed: u64,
    threads: Vec<Thread>,
    cores: Vec<Core>,
    random: u64,
    latest_shown: u64,
    signals: Vec<Signals>,
    reservations: Vec<Option<usize>>,
    xics: Xics,
    platform: Platform,
    progress_at: u64,
    timing: Option<Box<Timing>>,
    timed: Option<Box<Timing>>,
    plans: Vec<(Mark, Plan)>,
    #[serde(borrow)]
    frames: Vec<Frame<'a>>,
}

#[derive(Serialize, Deserialize)]
struct Frame<'a> {
    number: usize,
    flags: u8,
    #[serde(borrow, with = "serde_bytes")]
    contents: &'a [u8],
}

impl Machine {
    /// The machine as bytes.
    #[must_use]
    pub fn snapshot(&self) -> Vec<u8> {
        let State {
            description,
            seed,
            threads,
            shared,
            platform,
            progress_at,
            timing,
            timed,
            plans,
        } = &self.state;
        let frames = shared.memory.written_frames().map(|(number, flags, contents)| Frame {
            number,
            // The blocks that were decoded from it are not saved.
            flags: flags & !flags::CODE,
            contents,
        });
        let mut threads = threads.clone();
        siblings::tell(&mut threads, shared);
        let saved = Saved {
            description: description.clone(),
            seed: *seed,
            threads,
            cores: shared.cores.clone(),
            random: shared.random,
            latest_shown: shared.latest_shown(),
            signals: shared.all_signals().to_vec(),
            reservations: shared.all_reservations().to_vec(),
            xics: shared.xics.clone(),
            platform: platform.clone(),
            progress_at: *progress_at,
            timing: timing.clone(),
            timed: timed.clone(),
            plans: plans.clone(),
            frames: frames.collect(),
        };
        postcard::to_extend(&saved, MAGIC.to_vec()).expect("a state can be written as bytes")
    }

    /// The machine that [`Machine::snapshot`] made bytes of.
    ///
    /// # Errors
    /// [`SnapshotError`] if the bytes are not a whole snapshot.
    pub fn restore(bytes: &[u8]) -> Result<Self, SnapshotError> {
        let body = bytes.strip_prefix(&MAGIC).ok_or(SnapshotError::NotASnapshot)?;
        let damaged = |what: &str| SnapshotError::Damaged(what.to_owned());
        let saved: Saved<'_> =
            postcard::from_bytes(body).map_err(|fault| damaged(&fault.to_string()))?;
        let mut machine = Self::new(saved.description, saved.seed);
        let state = &mut machine.state;
        let has_same_shape = saved.threads.len() == state.threads.len()
            && saved.cores.len() == state.shared.cores.len()
            && saved.signals.len() == state.threads.len()
            && saved.reservations.len() == state.threads.len()
            && saved
                .threads
                .iter()
                .zip(&state.threads)
                .all(|(saved, made)| (saved.index, saved.core) == (made.index, made.core));
        if !has_same_shape {
            return Err(damaged("threads and cores do not fit the description"));
        }
        for Frame { number, flags, contents } in saved.frames {
            if !state.shared.memory.restore_frame(number, flags, contents) {
                return Err(damaged("a frame does not fit the memory"));
            }
        }
        state.threads = saved.threads;
        state.shared.cores = saved.cores;
        state.shared.note_engines();
        state.shared.random = saved.random;
        state.shared.latest_shown = saved.latest_shown;
        state.shared.restore_signals(saved.signals);
        state.shared.restore_reservations(saved.reservations);
        state.shared.xics = saved.xics;
        state.platform = saved.platform;
        state.progress_at = saved.progress_at;
        state.timing = saved.timing;
        state.timed = saved.timed;
        state.plans = saved.plans;
        Ok(machine)
    }
}

#[cfg(test)]
mod tests {
    use super::{MAGIC, Saved};
    use crate::{Description, Machine};

    /// Whether a snapshot of two threads is restored that was changed so.
    fn is_restored(change: impl FnOnce(&mut Saved<'_>)) -> bool {
        let text = include_str!("../../../machines/power9.toml")
            .replace("threads_per_core = 1", "threads_per_core = 2");
        let machine = Machine::new(Description::from_toml(&text).unwrap(), 1);
        let bytes = machine.snapshot();
        let mut saved: Saved<'_> = postcard::from_bytes(&bytes[MAGIC.len()..]).unwrap();
        change(&mut saved);
        Machine::restore(&postcard::to_extend(&saved, MAGIC.to_vec()).unwrap()).is_ok()
    }

    #[test]
    fn what_does_not_fit_the_description_is_refused() {
        assert!(is_restored(|_| {}));
        assert!(!is_restored(|saved| saved.threads.truncate(saved.threads.len() - 1)));
        assert!(!is_restored(|saved| saved.cores.truncate(saved.cores.len() - 1)));
        assert!(!is_restored(|saved| saved.signals.truncate(saved.signals.len() - 1)));
        assert!(!is_restored(|saved| saved.reservations.truncate(saved.reservations.len() - 1)));
        assert!(!is_restored(|saved| saved.threads.swap(0, 1)));
        assert!(!is_restored(|saved| saved.threads[1].core = 1));
    }
}
