//! Whose a core is, where its hardware threads run vCPUs of one partition at a time.
//!
//! - The partition that has a core has it for a slice at least, if one of its vCPUs runs there. Until then a thread of
//!   the core takes no other one's vCPU, and waits if there is none of that partition.
//! - After that it has it for another one if a vCPU of it that is inside comes before all that wait. Else the thread
//!   that decides next takes whom it would take anyway. If that is another partition's, the
//!   threads that are inside are called back, and whoever is on the way waits until the last one has come out.
//! - Nobody is bound to a partition of which no thread is inside.

/// What a thread does that is on its way into a partition.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Arrival {
    /// It goes on.
    Inside,
    /// It is the first: what names the partition has to change before anybody goes on.
    First,
    /// Threads are inside another partition.
    Waits,
}

/// The tenancy of one core.
#[derive(Clone, PartialEq, Eq, Default, Debug)]
pub(super) struct Tenancy {
    /// The partition that has the core, or had it last.
    tenant: Option<usize>,
    /// Threads that are inside that one, or on their way in.
    inside: usize,
    /// The partition that comes next, and the threads that are on their way with it.
    next: Option<(usize, usize)>,
    /// Until when others leave the core to the tenant, or to who comes next.
    until: u64,
}

impl Tenancy {
    /// Whose vCPUs alone a thread of the core may take `now`.
    pub(super) fn keeper(&self, now: u64) -> Option<usize> {
        match self.next {
            Some((partition, _)) => Some(partition),
            None => self.tenant.filter(|_| self.inside > 0 && now < self.until),
        }
    }

    /// The partition that threads are inside of, if no other one comes next.
    pub(super) fn inside(&self) -> Option<usize> {
        self.tenant.filter(|_| self.inside > 0 && self.next.is_none())
    }

    /// Until when others leave the core to the tenant, if they do `now`.
    pub(super) fn kept_until(&self, now: u64) -> Option<u64> {
        Some(self.until).filter(|until| now < *until)
    }

    /// Others leave the core to the tenant until then.
    pub(super) fn stays(&mut self, until: u64) {
        self.until = until;
    }

    /// A thread is on its way with a vCPU of `partition`, which [`Tenancy::keeper`] allows, and leaves the core to it
    /// until then; whether those that are inside have to come out.
    pub(super) fn reserve(&mut self, partition: usize, now: u64, until: u64) -> bool {
        if let Some((next, coming)) = &mut self.next {
            assert_eq!(*next, partition, "the core is another partition's");
            *coming += 1;
            return false;
        }
        if self.tenant == Some(partition) {
            self.inside += 1;
            if now >= self.until {
                self.until = until;
            }
            return false;
        }
        self.next = Some((partition, 1));
        self.until = until;
        self.inside > 0
    }

    /// A thread that is on its way into `partition` has come.
    pub(super) fn arrive(&mut self, partition: usize) -> Arrival {
        match self.next {
            Some((next, _)) if next == partition && self.inside > 0 => Arrival::Waits,
            Some((next, coming)) if next == partition => {
                *self = Self { tenant: Some(partition), inside: coming, next: None, ..*self };
                Arrival::First
            }
            _ => Arrival::Inside,
        }
    }

    /// A thread that was inside has come out.
    pub(super) fn leave(&mut self) {
        self.inside = self.inside.checked_sub(1).expect("it was inside");
    }

    /// Whether those that are inside have to come out.
    pub(super) const fn is_wanted(&self) -> bool {
        self.next.is_some()
    }

    /// Whether a thread is inside a partition, or on its way.
    pub(super) const fn is_used(&self) -> bool {
        self.inside > 0 || self.next.is_some()
    }
}
