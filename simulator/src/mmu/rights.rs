//! What a page permits, and the cause of a refusal.

use std::ops::BitOr;

use arch::interrupt::storage;

use super::Access;

/// The kinds of access that a page permits.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Permissions(u8);

impl Permissions {
    pub(super) const NONE: Self = Self(0);
    pub(super) const LOAD: Self = Self(4);
    pub(super) const STORE: Self = Self(2);
    pub(super) const FETCH: Self = Self(1);

    /// These, less those of `others`.
    pub(super) fn without(self, others: Self) -> Self {
        Self(self.0 & !others.0)
    }

    pub(super) fn allow(self, access: Access) -> bool {
        let needed = match access {
            Access::Load => Self::LOAD,
            Access::Store => Self::STORE,
            Access::Fetch => Self::FETCH,
        };
        self.0 & needed.0 != 0
    }
}

impl BitOr for Permissions {
    type Output = Self;

    fn bitor(self, others: Self) -> Self {
        Self(self.0 | others.0)
    }
}

/// The cause bits of an access that a page does not permit.
pub(super) fn refusal(access: Access) -> u64 {
    match access {
        Access::Load | Access::Store => storage::PROTECTION,
        Access::Fetch => storage::NO_EXECUTE,
    }
}
