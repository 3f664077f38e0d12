//! What KVM moved at every exit of a radix guest on POWER9, and a patch of 2021 ended: the names by which
//! [`RegisterPolicy::Eager`](crate::bundle::RegisterPolicy::Eager) leaves one or the other out.
//!
//! Source: `docs/facts/kvm-exit.md#registers-of-an-exit` has what was moved,
//! `docs/facts/kvm-exit.md#exit-ladder` the patches.

/// One thing that KVM did at every exit, and a patch ended. The numbers are those of the RFC.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Excess {
    /// RFC 1: WORT is switched, which a POWER9 has no use for.
    Wort,
    /// RFC 5: three reads of the time base for timers, beside those for accounts.
    TimerReads,
    /// RFC 8: AMOR is written, though its value is always the same.
    Amor,
    /// RFC 9: the guest's performance monitor is saved although the guest does not use it.
    MonitorForced,
    /// RFC 14: the host's performance monitor is put aside, the guest's loaded, and back, though nobody uses them.
    Monitor,
    /// RFC 17: an `mtmsrd` for each facility instead of one.
    Enables,
    /// RFC 22: four reads of the time base for accounts.
    AccountReads,
    /// RFC 23: reads of registers stand behind writes, and wait for them.
    Interleaved,
    /// RFC 24: registers are written though they hold that value.
    Unchanged,
    /// RFC 32: a canary is written into HDSISR.
    Canary,
    /// RFC 33: registers are written for what is seldom there: doorbells, breakpoints and watchpoints; and IC.
    Seldom,
    /// RFC 34 and 35: the registers of event-based branches and of transactions are switched though the guest
    /// does not use them.
    EbbTm,
    /// RFC 36: VRSAVE is switched beside the switch of threads.
    Vrsave,
    /// RFC 37: an `isync` before, between and behind the registers of the MMU's context.
    Context,
    /// RFC 39: PSSCR is written.
    Psscr,
    /// RFC 40: `eieio; tlbsync; ptesync`.
    Tlbsync,
}

impl Excess {
    /// All of them, by the number of their patch.
    pub const ALL: [Self; 16] = [
        Self::Wort,
        Self::TimerReads,
        Self::Amor,
        Self::MonitorForced,
        Self::Monitor,
        Self::Enables,
        Self::AccountReads,
        Self::Interleaved,
        Self::Unchanged,
        Self::Canary,
        Self::Seldom,
        Self::EbbTm,
        Self::Vrsave,
        Self::Context,
        Self::Psscr,
        Self::Tlbsync,
    ];

    /// As the files of the `powervisor` command write it.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Wort => "wort",
            Self::TimerReads => "timer-reads",
            Self::Amor => "amor",
            Self::MonitorForced => "monitor-forced",
            Self::Monitor => "monitor",
            Self::Enables => "enables",
            Self::AccountReads => "account-reads",
            Self::Interleaved => "interleaved",
            Self::Unchanged => "unchanged",
            Self::Canary => "canary",
            Self::Seldom => "seldom",
            Self::EbbTm => "ebb-tm",
            Self::Vrsave => "vrsave",
            Self::Context => "context",
            Self::Psscr => "psscr",
            Self::Tlbsync => "tlbsync",
        }
    }

    /// The one with this name.
    #[must_use]
    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|excess| excess.name() == name)
    }
}

/// Some of them.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub struct Excesses(u32);

impl Excesses {
    /// None of them.
    pub const NONE: Self = Self(0);

    /// As the bundle has them, a bit for each in the order of [`Excess::ALL`], the first one lowest. Not a set
    /// with other bits.
    #[must_use]
    pub const fn from_bits(bits: u32) -> Option<Self> {
        if bits >> Excess::ALL.len() == 0 { Some(Self(bits)) } else { None }
    }

    /// The reverse of [`Excesses::from_bits`].
    #[must_use]
    pub const fn bits(self) -> u32 {
        self.0
    }

    /// These and `excess`.
    #[must_use]
    pub const fn with(self, excess: Excess) -> Self {
        Self(self.0 | 1 << excess as u32)
    }

    /// Whether `excess` is one of them.
    #[must_use]
    pub const fn has(self, excess: Excess) -> bool {
        self.0 & 1 << excess as u32 != 0
    }
}

#[cfg(test)]
mod tests {
    use super::{Excess, Excesses};

    #[test]
    fn names_and_bits_are_each_ones_own() {
        let mut all = Excesses::NONE;
        for excess in Excess::ALL {
            assert!(!all.has(excess), "{}", excess.name());
            assert_eq!(Excess::from_name(excess.name()), Some(excess));
            all = all.with(excess);
            assert!(all.has(excess));
        }
        assert_eq!(Excesses::from_bits(all.bits()), Some(all));
        assert_eq!(Excesses::from_bits(all.bits() + 1), None);
        assert_eq!(Excess::from_name("nothing"), None);
    }
}
