//! A stand-in for the memory hierarchy: everything is in the first level.

use serde::{Deserialize, Serialize};

use crate::cache::{Answer, Kind, Request};
use crate::description::Description;
use crate::description::timing::Bound;
use crate::ledger::{Cause, CauseSet};

/// Caches in which everything is.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct Hierarchy;

impl Hierarchy {
    /// The caches of a machine.
    #[must_use]
    pub fn new(_: &Description, _: Bound, _: CauseSet) -> Self {
        Self
    }

    /// Makes an access.
    pub fn access(&mut self, request: &Request) -> Answer {
        let (latency, cause) = match request.kind {
            Kind::Load | Kind::Walk => (4, Cause::LoadL1),
            Kind::Store | Kind::Zero => (15, Cause::StoreDrain),
            Kind::Fetch => (0, Cause::DispatchWidth),
        };
        Answer { ready: request.at + latency, cause, is_refill: false }
    }

    /// Instructions are fetched ahead in `core`, or are not.
    pub fn set_fetches_ahead(&mut self, _: usize, _: bool) {}
}
