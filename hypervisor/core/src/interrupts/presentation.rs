//! The interrupt presentation of one vCPU: of external interrupts (XICS) its priority, the request of other vCPUs, and
//! the most favoured one of the partition's devices; and its privileged doorbell.
//!
//! Priorities are numbers of which the lower is the more favoured. An external interrupt is pending exactly while a
//! request, the vCPUs' (MFRR) or a device's, is more favoured than the current processor priority, CPPR.

use crate::sync::{Alone, SharedState};

/// The number of the interrupt between processors, in the lower 24 bits of XIRR.
pub const IPI: u32 = 2;
/// The least favoured priority: no request.
pub const NONE: u8 = 0xFF;

/// What a device asks for.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Request {
    /// How favoured; [`NONE`] is no request.
    pub priority: u8,
    /// The number of the device's source, for the lower 24 bits of XIRR.
    pub number: u32,
}

/// Where a presentation has the doorbell, above a device's number.
const DOORBELL: u64 = 1 << 31;

impl Default for Request {
    fn default() -> Self {
        Self::NOTHING
    }
}

impl Request {
    const NOTHING: Self = Self { priority: NONE, number: 0 };
}

/// What a presentation was in one moment.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
struct State {
    /// Only a more favoured interrupt is taken.
    cppr: u8,
    /// Most favoured request of other processors.
    mfrr: u8,
    /// The most favoured request of a device.
    device: Request,
    /// Its privileged doorbell was rung.
    is_rung: bool,
}

/// An interrupt that a vCPU is to be given.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Delivery {
    /// An external one, which stays pending until it is accepted.
    External,
    /// The privileged doorbell, which is over with it.
    Doorbell,
}

impl State {
    /// As after reset: no request, and none would be taken.
    const RESET: Self = Self { cppr: 0, mfrr: NONE, device: Request::NOTHING, is_rung: false };

    const fn from_bits(bits: u64) -> Self {
        let number = (bits & !DOORBELL) as u32;
        let device = Request { priority: (bits >> 40) as u8, number };
        let is_rung = bits & DOORBELL != 0;
        Self { cppr: (bits >> 56) as u8, mfrr: (bits >> 48) as u8, device, is_rung }
    }

    const fn bits(self) -> u64 {
        let Self { cppr, mfrr, device, is_rung } = self;
        (cppr as u64) << 56
            | if is_rung { DOORBELL } else { 0 }
            | (mfrr as u64) << 48
            | (device.priority as u64) << 40
            | device.number as u64
    }

    /// Priority of the most favoured request.
    const fn favoured(self) -> u8 {
        if self.is_devices() { self.device.priority } else { self.mfrr }
    }

    const fn is_external_pending(self) -> bool {
        self.favoured() < self.cppr
    }

    /// Asked on the way into each stay, so the three comparisons do not wait for each other.
    const fn is_pending(self) -> bool {
        (self.mfrr < self.cppr) | (self.device.priority < self.cppr) | self.is_rung
    }

    const fn is_devices(self) -> bool {
        self.device.priority < self.mfrr
    }

    const fn xirr(self) -> u32 {
        let source = match self.is_external_pending() {
            false => 0,
            true if self.is_devices() => self.device.number,
            true => IPI,
        };
        (self.cppr as u32) << 24 | source
    }
}

/// What one vCPU is presented with: one word, which its calls and those of other vCPUs change with the partition
/// unlocked.
///
/// Of two who change it one comes later, and sees what both did: it knows whether an interrupt is pending, and sees to
/// that. A device's request is changed with the partition locked only, as its source is then.
#[derive(Debug)]
pub struct Presentation(Alone<SharedState>);

impl Default for Presentation {
    /// As after reset.
    fn default() -> Self {
        Self(Alone(SharedState::new(State::RESET.bits())))
    }
}

impl Presentation {
    fn state(&self) -> State {
        State::from_bits(self.0.0.get())
    }

    /// Changes it: what it was, and what it is.
    #[inline]
    fn change(&self, change: impl Fn(State) -> State) -> (State, State) {
        let before = self.0.0.change(|bits| change(State::from_bits(bits)).bits());
        let before = State::from_bits(before);
        (before, change(before))
    }

    /// All that there is of it, in one word.
    #[must_use]
    pub fn bits(&self) -> u64 {
        self.state().bits()
    }

    /// It is what [`Self::bits`] said of another one.
    pub fn set_bits(&self, bits: u64) {
        self.change(|_| State::from_bits(bits));
    }

    /// No request, and none would be taken.
    pub fn reset(&self) {
        self.change(|_| State::RESET);
    }

    /// Whether an interrupt has to be delivered.
    #[must_use]
    #[inline]
    pub fn is_pending(&self) -> bool {
        self.state().is_pending()
    }

    /// The interrupt that the vCPU, which takes some, is given now, if there is one: another vCPU may have taken its
    /// request back since [`Self::is_pending`] has said so.
    pub fn deliver(&self) -> Option<Delivery> {
        let state = self.state();
        if state.is_external_pending() {
            return Some(Delivery::External);
        }
        state.is_rung.then(|| {
            self.set_doorbell(false);
            Delivery::Doorbell
        })
    }

    /// Whether the vCPU's privileged doorbell was rung, and it has not had the interrupt.
    #[must_use]
    pub fn is_rung(&self) -> bool {
        self.state().is_rung
    }

    /// Rings the privileged doorbell, or takes that back.
    pub fn set_doorbell(&self, is_rung: bool) {
        self.change(|state| State { is_rung, ..state });
    }

    /// Sets the most favoured request of a device. The partition is locked.
    pub fn set_device(&self, request: Request) {
        if self.state().device != request {
            self.change(|state| State { device: request, ..state });
        }
    }

    /// Sets the request of other processors: whether an interrupt is pending now.
    pub fn set_mfrr(&self, mfrr: u8) -> bool {
        self.change(|state| State { mfrr, ..state }).1.is_pending()
    }

    /// Sets the processor's priority, which ends an interrupt if it is the one before that: whether an interrupt is
    /// pending now.
    #[inline]
    pub fn set_cppr(&self, cppr: u8) -> bool {
        self.change(|state| State { cppr, ..state }).1.is_pending()
    }

    /// XIRR without accepting, which is the priority and the number of the pending interrupt or zero; and the request
    /// of other processors, at the same moment.
    #[must_use]
    pub fn poll(&self) -> (u32, u8) {
        let state = self.state();
        (state.xirr(), state.mfrr)
    }

    /// XIRR; the processor's priority becomes that of the interrupt. `None` if it is a device's: nothing has happened,
    /// and [`Self::accept_any`] does it.
    pub fn accept(&self) -> Option<u32> {
        let accept = |state: State| match state.is_external_pending() && !state.is_devices() {
            true => State { cppr: state.mfrr, ..state },
            false => state,
        };
        let (before, _) = self.change(accept);
        (!before.is_external_pending() || !before.is_devices()).then(|| before.xirr())
    }

    /// As [`Self::accept`], with the partition locked. A device's request is over with it; if it was one, the number of
    /// its source is the other answer.
    pub fn accept_any(&self) -> (u32, Option<u32>) {
        let accept = |state: State| match state.is_external_pending() {
            false => state,
            true if state.is_devices() => {
                State { cppr: state.device.priority, device: Request::NOTHING, ..state }
            }
            true => State { cppr: state.mfrr, ..state },
        };
        let (before, _) = self.change(accept);
        let is_devices = before.is_external_pending() && before.is_devices();
        (before.xirr(), is_devices.then_some(before.device.number))
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::{Delivery, IPI, NONE, Presentation, Request};
    use proptest::prelude::{prop_assert, prop_assert_eq, proptest};

    #[test]
    fn a_request_is_presented_accepted_and_ended() {
        let presentation = Presentation::default();
        assert!(!presentation.set_mfrr(4), "after reset nothing is taken");
        assert!(presentation.set_cppr(5));
        assert_eq!(presentation.poll(), (5 << 24 | IPI, 4));
        assert_eq!(presentation.accept(), Some(5 << 24 | IPI));
        assert!(!presentation.is_pending(), "it is in service");
        assert!(presentation.set_cppr(5), "nobody took the request back");
        assert!(!presentation.set_mfrr(NONE));
        assert_eq!(presentation.accept(), Some(5 << 24));
    }

    #[test]
    fn the_more_favoured_request_comes_first_and_a_devices_once() {
        const NUMBER: u32 = 0x1001;
        let presentation = Presentation::default();
        presentation.set_cppr(0xFF);
        presentation.set_mfrr(4);
        presentation.set_device(Request { priority: 5, number: NUMBER });
        assert_eq!(presentation.accept(), Some(0xFF << 24 | IPI));
        assert!(!presentation.is_pending(), "the device's is less favoured");
        presentation.set_mfrr(NONE);
        presentation.set_cppr(0xFF);
        assert_eq!(presentation.accept(), None, "its source has to know");
        assert_eq!(presentation.accept_any(), (0xFF << 24 | NUMBER, Some(NUMBER)));
        presentation.set_cppr(0xFF);
        assert!(!presentation.is_pending());
    }

    #[test]
    fn a_doorbell_waits_behind_an_external_interrupt_and_is_over_once_it_is_given() {
        let presentation = Presentation::default();
        presentation.set_doorbell(true);
        assert!(presentation.is_pending() && presentation.is_rung());
        assert_eq!(presentation.accept(), Some(0), "it is no external interrupt");
        presentation.set_cppr(0xFF);
        assert!(presentation.set_mfrr(4));
        assert_eq!(presentation.deliver(), Some(Delivery::External));
        assert_eq!(presentation.deliver(), Some(Delivery::External), "it was not accepted");
        assert_eq!(presentation.accept(), Some(0xFF << 24 | IPI));
        let copy = Presentation::default();
        copy.set_bits(presentation.bits());
        assert!(copy.is_rung());
        assert_eq!(presentation.deliver(), Some(Delivery::Doorbell));
        assert!(!presentation.is_pending() && !presentation.is_rung());
        presentation.set_cppr(0xFF);
        assert!(presentation.set_mfrr(4) && !presentation.set_mfrr(NONE), "it is taken back");
        assert_eq!(presentation.deliver(), None);
        copy.reset();
        assert!(!copy.is_pending());
    }

    proptest! {
        /// Accepting gives an interrupt exactly if one is pending, and ending it restores the priority. A device's is
        /// accepted with its source only.
        #[test]
        fn accepting_and_ending_leave_the_priority_as_it_was(
            cppr: u8, mfrr: u8, priority: u8, number in 0x1000_u32..1 << 24,
        ) {
            let presentation = Presentation::default();
            presentation.set_cppr(cppr);
            presentation.set_mfrr(mfrr);
            presentation.set_device(Request { priority, number });
            let before = presentation.state();
            let devices = before.is_pending() && priority < mfrr;
            let accepted = presentation.accept();
            prop_assert_eq!(accepted.is_none(), devices);
            let xirr = accepted.unwrap_or_else(|| {
                let (xirr, source) = presentation.accept_any();
                assert_eq!(source, Some(number));
                xirr
            });
            prop_assert_eq!(xirr >> 24, u32::from(cppr));
            let expected = if devices { number } else { u32::from(before.is_pending()) * IPI };
            prop_assert_eq!(xirr & 0xFF_FFFF, expected);
            prop_assert!(!presentation.is_pending());
            if devices {
                presentation.set_device(Request { priority, number });
            }
            presentation.set_cppr((xirr >> 24) as u8);
            prop_assert_eq!(presentation.state(), before);
        }
    }
}
