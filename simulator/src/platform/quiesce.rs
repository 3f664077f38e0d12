//! `OPAL_QUIESCE`: one thread keeps others out of firmware, on its way to a crash or a reboot.
//!
//! A call here is over at once, so there is never one to wait for; what comes later waits at the entry or
//! fails. As skiboot's `core/opal.c` and `asm/head.S`.

use arch::opal::{quiesce, status};
use serde::{Deserialize, Serialize};

/// Who keeps whom out.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct Quiesce {
    /// The thread whose request is under way, and whom it is for; `None`: all others.
    under_way: Option<(usize, Option<usize>)>,
    /// By thread: [`quiesce::HOLD`], [`quiesce::REJECT`], or 0.
    kept_out: Vec<u64>,
}

impl Quiesce {
    /// All of `threads` may call.
    #[must_use]
    pub fn new(threads: usize) -> Self {
        Self { under_way: None, kept_out: vec![0; threads] }
    }

    /// Whether a call of thread `index` waits at the entry.
    #[must_use]
    pub fn holds(&self, index: usize) -> bool {
        self.kept_out[index] == quiesce::HOLD
    }

    /// Whether a call of thread `index` fails.
    #[must_use]
    pub fn rejects(&self, index: usize) -> bool {
        self.kept_out[index] == quiesce::REJECT
    }

    /// What `caller` asks for, about one thread or (`None`) all others. `None` for an unknown kind.
    pub fn request(&mut self, caller: usize, kind: u64, target: Option<usize>) -> Option<i64> {
        let is_request = matches!(kind, quiesce::HOLD | quiesce::REJECT);
        match self.under_way {
            Some(_) if is_request => return Some(status::BUSY),
            None if is_request => self.under_way = Some((caller, target)),
            Some((owner, _)) if owner == caller => {}
            _ => return Some(status::BUSY),
        }
        match kind {
            quiesce::HOLD | quiesce::REJECT => self.set(caller, target, kind),
            quiesce::RESUME | quiesce::RESUME_FAST_REBOOT => {
                self.set(caller, target, 0);
                self.under_way = None;
            }
            // There are no locks to break.
            quiesce::LOCK_BREAK if self.under_way == Some((caller, None)) => {}
            quiesce::LOCK_BREAK => return Some(status::BUSY),
            _ => return None,
        }
        Some(status::SUCCESS)
    }

    /// Holds all others, unless somebody else does already: the way to power-off and reboot.
    pub fn hold_others(&mut self, caller: usize) {
        let _ = self.request(caller, quiesce::HOLD, None);
    }

    fn set(&mut self, caller: usize, target: Option<usize>, kind: u64) {
        for (index, kept_out) in self.kept_out.iter_mut().enumerate() {
            if target.map_or(index != caller, |target| index == target) {
                *kept_out = kind;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::Quiesce;
    use arch::opal::{quiesce, status};

    const DONE: Option<i64> = Some(status::SUCCESS);
    const BUSY: Option<i64> = Some(status::BUSY);

    #[test]
    fn one_thread_at_a_time_keeps_the_others_out_until_it_lets_them_in() {
        let mut state = Quiesce::new(3);
        assert_eq!(state.request(1, quiesce::RESUME, None), BUSY, "nothing is under way");
        assert_eq!(state.request(1, quiesce::HOLD, None), DONE);
        assert!(state.holds(0) && !state.holds(1) && state.holds(2) && !state.rejects(0));
        assert_eq!(state.request(1, quiesce::REJECT, None), BUSY);
        assert_eq!(state.request(0, quiesce::RESUME, None), BUSY, "it is not the owner");
        assert_eq!(state.request(1, quiesce::LOCK_BREAK, None), DONE);
        assert_eq!(state.request(1, 9, None), None);
        assert_eq!(state.request(1, quiesce::RESUME, None), DONE);
        assert!(!state.holds(0) && !state.holds(2));
        assert_eq!(state.request(0, quiesce::HOLD, None), DONE);
        assert_eq!(state.request(0, quiesce::RESUME_FAST_REBOOT, None), DONE);
        assert_eq!(state, Quiesce::new(3));
    }

    #[test]
    fn one_thread_can_be_meant() {
        let mut state = Quiesce::new(3);
        assert_eq!(state.request(0, quiesce::REJECT, Some(2)), DONE);
        assert!(state.rejects(2) && !state.rejects(1) && !state.holds(2));
        assert_eq!(state.request(0, quiesce::LOCK_BREAK, None), BUSY, "not all are kept out");
        assert_eq!(state.request(0, quiesce::RESUME, Some(2)), DONE);
        assert!(!state.rejects(2));
    }
}
