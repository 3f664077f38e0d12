//! Lines that come before anybody asks for them.

use super::pair::Want;
use super::{Core, Hierarchy};
use crate::cache::latency::Level;
use crate::cache::{Kind, LINE_LOG2, Request};

impl Hierarchy {
    /// Fetches a line that software touched, to have it `alone` if it is going to store there. The cycle at which it is
    /// there, if it was not. A touch counts as no miss and teaches no stream. It fetches no line that wanders: nothing
    /// would say whose turn it is.
    pub fn touch(&mut self, request: &Request, alone: bool) -> Option<u64> {
        let Request { thread, line, owner, .. } = *request;
        if self.exchange.wanders(line) {
            return None;
        }
        let core = self.core_of[thread];
        let kind = if alone { Kind::Store } else { Kind::Load };
        let want = self.want(&Request { kind, ..*request }, core, line);
        let Core { pair, data_bit, data, .. } = &self.cores[core];
        if alone {
            let known = self.pairs[*pair].l2.find(line);
            if known.is_some_and(|entry| entry.is_exclusive && entry.above & !data_bit == 0) {
                return None;
            }
            let arrival = self.bring(*pair, &want)?;
            self.own(core, line, owner.side(), arrival);
            Some(arrival.ready)
        } else {
            if data.find(line).is_some() {
                return None;
            }
            let arrival = self.bring(*pair, &want)?;
            Some(self.fill(core, &want, arrival).ready)
        }
    }

    /// Fetches what is likely to be wanted after a read that came from `level`.
    pub(super) fn look_ahead(&mut self, request: &Request, core: usize, level: Level) {
        let first = |last| (1, last);
        if request.kind == Kind::Fetch {
            let lines = self.cores[core].instruction_lines;
            self.fetch_ahead(request, core, 1, first(lines), true);
            return;
        }
        let line = request.address >> LINE_LOG2;
        if let Some(ahead) = self.cores[core].streams.follow(line, &self.prefetch) {
            self.fetch_ahead(request, core, ahead.stride, ahead.first_level, true);
            self.fetch_ahead(request, core, ahead.stride, ahead.third_level, false);
        } else if level.is_memory() {
            self.fetch_ahead(request, core, 1, first(self.prefetch.scattered_lines), false);
        }
    }

    /// Fetches the lines that lie `steps` of `stride` lines behind that of `request`, up to the end of
    /// the page: what follows it in effective addresses need not follow it in memory.
    fn fetch_ahead(
        &mut self,
        request: &Request,
        core: usize,
        stride: i64,
        steps: (u64, u64),
        into_l1: bool,
    ) {
        let page = |address: u64| address >> self.prefetch.page_log2;
        let offset = |step: u64| stride.wrapping_mul(step as i64);
        let is_in_page = |step: &u64| {
            let address = request.address.wrapping_add_signed(offset(*step) << LINE_LOG2);
            page(address) == page(request.address)
        };
        let last = (steps.0..=steps.1).take_while(is_in_page).last();
        let patience = self.prefetch.patience;
        for step in steps.0..=last.unwrap_or(0) {
            let line = request.line.wrapping_add_signed(offset(step));
            if self.home(line).is_none() {
                continue;
            }
            let want = self.want(request, core, line);
            let want = Want { patience, ..want };
            let pair = self.cores[core].pair;
            if !into_l1 {
                self.bring_into_l3(pair, &want);
            } else if self.first_level(core, request.kind).find(line).is_none()
                && let Some(arrival) = self.bring(pair, &want)
            {
                self.fill(core, &want, arrival);
                if let Some(entry) = self.first_level(core, request.kind).find_mut(line) {
                    entry.is_prefetched = true;
                }
            }
        }
    }
}
