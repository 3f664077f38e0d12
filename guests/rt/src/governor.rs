//! How long a vCPU polls before it sleeps, and when it stops sleeping: learned from how its waits were.
//!
//! A vCPU that polls wakes fast, and takes cycles from its siblings. One that sleeps takes none, and wakes late. Who
//! polls for as long as a sleep must last to be worth it, and sleeps then, loses at most twice what the better of both
//! would have lost. A governor does that where it has learned nothing. Where a timer or a pattern of the waits before
//! says how long a wait is, it sleeps at once, and polls again shortly before the end. If waits seem to have a pattern
//! by chance, it loses a little more.
//!
//! After a sleep that something ended too early, it only polls the next time that the waits before look the same, then
//! the next four times, then sixteen, up to [`PAUSE_MAX`]. So somebody who wakes the vCPU as soon as it sleeps costs
//! six late wakings while it learns that, and less than two in a thousand waits from then on.

/// Waits before this one that it looks back at, each short or long.
const HISTORY: u32 = 4;
const CONTEXTS: usize = 1 << HISTORY;
/// Waits without a sleep that follow upon a bad one, at most.
pub const PAUSE_MAX: u32 = 1024;
/// So many times as many follow upon the next bad one, if no good one was between them.
const GROWTH: u32 = 4;
/// A wait in which it should not sleep has to last so many times as long as a sleep must, and it sleeps after all: one
/// more late waking is little then.
const PATIENCE: u64 = 100;
/// So many waits that were alike make the next one expected.
const CERTAIN: u32 = 2;

/// What is known of waits behind the same waits before.
#[derive(Clone, Copy, Debug)]
struct Context {
    /// The shortest of the last ones that were alike.
    shortest: u64,
    /// How many of these there were, without those that a timer ended.
    alike: u32,
    /// How many waits follow upon the next bad sleep, without one.
    next_pause: u32,
    /// How many of these are left.
    pause: u32,
}

/// What a vCPU has learned. All times are in ticks of one clock.
#[derive(Clone, Debug)]
pub struct Governor {
    /// So long a sleep is worth it.
    residency: u64,
    /// So long before the end of a wait it has to stop sleeping.
    margin: u64,
    /// The last waits, each a bit that says whether it was long.
    history: usize,
    contexts: [Context; CONTEXTS],
}

/// What a vCPU does until something is needed of it. Times are since the wait's begin.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Plan {
    /// It polls until then.
    poll_until: u64,
    /// It sleeps until the first of these, and polls until the second, before it sleeps for good.
    nap: Option<(u64, u64)>,
}

/// A part of a plan.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Phase {
    /// Polls until so long after the wait's begin.
    Poll(u64),
    /// Sleeps until so long after the wait's begin, or until it is woken.
    Sleep(Option<u64>),
}

/// What ended a wait.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum End {
    /// The vCPU's own timer.
    Timer,
    /// Somebody else, while it polled.
    Poll,
    /// Somebody else, while it slept, for so long.
    Sleep(u64),
}

impl Plan {
    /// What it does at this time.
    #[must_use]
    pub const fn phase(&self, elapsed: u64) -> Phase {
        if elapsed < self.poll_until {
            return Phase::Poll(self.poll_until);
        }
        match self.nap {
            Some((wake, _)) if elapsed < wake => Phase::Sleep(Some(wake)),
            Some((_, again)) if elapsed < again => Phase::Poll(again),
            _ => Phase::Sleep(None),
        }
    }
}

impl Governor {
    /// Has learned nothing. A state takes `latency` to leave, and is worth it for a sleep of `residency`.
    #[must_use]
    pub const fn new(latency: u64, residency: u64) -> Self {
        let context = Context { shortest: 0, alike: 0, next_pause: 1, pause: 0 };
        Self { residency, margin: 2 * latency, history: 0, contexts: [context; CONTEXTS] }
    }

    /// The plan of a wait that a timer ends after `timer`, if one does.
    #[must_use]
    pub fn plan(&mut self, timer: Option<u64>) -> Plan {
        let (residency, margin) = (self.residency, self.margin);
        let context = &mut self.contexts[self.history];
        let timer = timer.unwrap_or(u64::MAX);
        let end = if context.alike > CERTAIN { timer.min(context.shortest) } else { timer };
        let nap = move |end: u64| {
            let wake = end.saturating_sub(margin);
            (end < u64::MAX).then_some((wake, end.saturating_add(residency)))
        };
        if context.pause > 0 {
            context.pause -= 1;
            return Plan { poll_until: PATIENCE * residency, nap: nap(timer) };
        }
        if end < u64::MAX && end >= residency + margin {
            return Plan { poll_until: 0, nap: nap(end) };
        }
        Plan { poll_until: residency, nap: nap(timer) }
    }

    /// A wait took `ticks`, and ended so.
    pub fn learn(&mut self, ticks: u64, end: End) {
        let context = &mut self.contexts[self.history];
        match end {
            End::Sleep(slept) if slept < self.residency => {
                context.pause = context.next_pause;
                context.next_pause = (GROWTH * context.next_pause).min(PAUSE_MAX);
            }
            End::Sleep(_) => context.next_pause = 1,
            End::Poll | End::Timer => {}
        }
        if end != End::Timer {
            // It woke some time after the event.
            let late = if matches!(end, End::Sleep(_)) { self.margin } else { 0 };
            // A nap for the shortest would have ended in time, and polling behind it would have sufficed.
            let is_alike = ticks + self.margin >= context.shortest
                && ticks <= context.shortest.saturating_add(self.residency);
            (context.shortest, context.alike) = if is_alike {
                let shortest = context.shortest.min(ticks).saturating_sub(late);
                (shortest, context.alike.saturating_add(1))
            } else {
                (ticks.saturating_sub(late), 1)
            };
        }
        let is_long = usize::from(ticks >= self.residency);
        self.history = (self.history << 1 | is_long) % CONTEXTS;
    }
}

#[cfg(test)]
mod tests {
    use super::{End, Governor, PAUSE_MAX, Phase, Plan};
    use crate::random::Numbers;

    /// Ticks of a microsecond here.
    const US: u64 = 100;
    const LATENCY: u64 = US;
    const RESIDENCY: u64 = 10 * US;
    /// What somebody else's waking takes here: longer than firmware says.
    const LATE: u64 = 3 * US;

    /// What waits cost.
    #[derive(Default, Debug)]
    struct Cost {
        waits: u64,
        polled: u64,
        /// Wakings from a sleep.
        late: u64,
        all: u64,
    }

    /// When something ends a wait, by what the vCPU does.
    enum Event {
        After(u64),
        Timer(u64),
        /// So long after it goes to sleep, or after so much time.
        Sleep(u64, u64),
    }

    impl Cost {
        /// As [`super::super::idle`] does it, with a clock that stands still but for the phases.
        fn add(&mut self, plan: Plan, event: &Event) -> (u64, End) {
            let (mut now, mut ends) = match *event {
                Event::After(ticks) | Event::Timer(ticks) | Event::Sleep(_, ticks) => (0, ticks),
            };
            loop {
                match plan.phase(now) {
                    Phase::Poll(until) if until < ends => {
                        self.polled += until - now;
                        now = until;
                    }
                    Phase::Poll(_) => {
                        self.polled += ends - now;
                        return self.end(ends, event, End::Poll);
                    }
                    Phase::Sleep(until) => {
                        if let Event::Sleep(soon, _) = event {
                            ends = ends.min(now + soon);
                        }
                        if let Some(until) = until.filter(|until| *until < ends) {
                            now = until;
                        } else {
                            self.late += 1;
                            return self.end(ends + LATE, event, End::Sleep(ends + LATE - now));
                        }
                    }
                }
            }
        }

        fn end(&mut self, ticks: u64, event: &Event, end: End) -> (u64, End) {
            self.waits += 1;
            self.all += ticks;
            (ticks, if matches!(event, Event::Timer(_)) { End::Timer } else { end })
        }
    }

    fn cost_of(waits: u64, mut next: impl FnMut(u64) -> Event) -> Cost {
        let mut governor = Governor::new(LATENCY, RESIDENCY);
        let mut cost = Cost::default();
        for wait in 0..waits {
            let event = next(wait);
            let timer = if let Event::Timer(ticks) = event { Some(ticks) } else { None };
            let (ticks, end) = cost.add(governor.plan(timer), &event);
            governor.learn(ticks, end);
        }
        cost
    }

    #[test]
    fn short_waits_are_polled() {
        let mut numbers = Numbers::new(1);
        let cost = cost_of(100_000, |_| Event::After(numbers.below(RESIDENCY)));
        assert_eq!(cost.late, 0);
    }

    #[test]
    fn a_wait_without_end_costs_as_much_polling_as_a_sleep_must_last() {
        let cost = cost_of(1, |_| Event::After(1_000_000 * US));
        assert_eq!((cost.polled, cost.late), (RESIDENCY, 1));
    }

    #[test]
    fn timers_are_slept_for_and_nobody_wakes_late() {
        let mut numbers = Numbers::new(2);
        let cost = cost_of(100_000, |_| Event::Timer(20 * US + numbers.below(20 * US)));
        assert_eq!((cost.polled, cost.late), (2 * LATENCY * cost.waits, 0));
    }

    #[test]
    fn a_pattern_is_learned() {
        let length = |wait| if wait % 2 == 0 { US } else { 1000 * US };
        let cost = cost_of(100_000, |wait| Event::After(length(wait)));
        assert!(cost.late < 20, "{cost:?}");
        assert!(cost.polled < cost.all / 150, "{cost:?}");
    }

    #[test]
    fn a_pattern_that_changes_is_learned_anew() {
        let length = |wait: u64| match wait / 10_000 % 3 {
            0 => 1000 * US,
            1 => US,
            _ => [US, 50 * US, 1000 * US][wait as usize % 3],
        };
        let cost = cost_of(90_000, |wait| Event::After(length(wait)));
        assert!(cost.late < cost.waits / 200, "{cost:?}");
        assert!(cost.polled < cost.all / 50, "{cost:?}");
    }

    #[test]
    fn who_wakes_it_as_soon_as_it_sleeps_does_that_seldom() {
        let cost = cost_of(100_000, |_| Event::Sleep(1, 1000 * US));
        // A late waking changes what the waits before look like: those are learned apart.
        assert!(cost.late < 6 + cost.waits / u64::from(PAUSE_MAX) * 7 / 5, "{cost:?}");
        // And is not believed for ever.
        let cost = cost_of(100_000, |wait| {
            if wait < 50_000 { Event::Sleep(1, 1000 * US) } else { Event::After(500 * US) }
        });
        let all_of_the_first = 50_000 * 1000 * US;
        let rest = cost.polled.saturating_sub(all_of_the_first);
        assert!(rest < 2 * u64::from(PAUSE_MAX) * 500 * US, "{cost:?}");
    }

    #[test]
    fn waits_without_a_pattern_cost_little_more_than_twice_the_best() {
        for seed in 0..100 {
            let mut numbers = Numbers::new(seed);
            let most = 1 + numbers.below(100 * US);
            let mut best = [0; 2];
            let cost = cost_of(10_000, |_| {
                let ticks = numbers.below(most);
                best[0] += ticks;
                best[1] += RESIDENCY;
                Event::After(ticks)
            });
            // A late waking is worth as much polling as a sleep must last.
            let ours = cost.polled + cost.late * RESIDENCY;
            let most = best[0].min(best[1]) * 9 / 4 + 200 * RESIDENCY;
            assert!(ours <= most, "{seed}: {cost:?} {best:?}");
        }
    }
}
