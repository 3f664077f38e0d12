//! What a timed region met: how often it executed what a value of the timing model is the price of, and what it did not
//! find in caches and translations.
//!
//! A value that a region met no event of cannot change it; [`crate::report`] says so to programs, and `powervisor diff`
//! to people.

use std::collections::{BTreeMap, BTreeSet};
use std::mem;

use arch::instruction::{Mnemonic, Word};
use arch::marker::{Mark, Region};
use arch::registers::spr::{Spr, SprRow};
use rustc_hash::FxHashMap;
use simulator::blocks::Op;
use simulator::cache::Savings;
use simulator::exec::Mode;
use simulator::pipeline::class::{Class, class};
use simulator::state::prefetch_engine::Work;
use simulator::state::thread::Thread;
use simulator::{Machine, Observer};

use crate::extent::Extent;

/// The classes of instructions that have this value of the description as their price, and no others do.
const PRICES: &[(&str, &[Class])] = &[
    ("timing.latency.count", &[Class::Count]),
    ("timing.latency.multiply", &[Class::Multiply]),
    ("timing.latency.divide_word", &[Class::DivideWord]),
    ("timing.latency.divide_doubleword", &[Class::DivideDoubleword]),
    ("timing.latency.divide_extended", &[Class::DivideExtended]),
    ("timing.latency.field_read", &[Class::FieldRead]),
    ("timing.latency.condition_read", &[Class::ConditionRead]),
    ("timing.latency.renamed_write", &[Class::RenamedWrite]),
    ("timing.latency.renamed_read", &[Class::RenamedRead]),
    ("timing.latency.xer_read", &[Class::XerRead]),
    ("timing.latency.floating", &[Class::Floating]),
    ("timing.latency.floating_move", &[Class::FloatingMove]),
    ("timing.latency.floating_divide_single", &[Class::FloatingDivideSingle]),
    ("timing.latency.floating_divide", &[Class::FloatingDivide]),
    ("timing.latency.floating_root_single", &[Class::FloatingRootSingle, Class::VectorRootSingle]),
    ("timing.latency.floating_root", &[Class::FloatingRoot, Class::VectorRoot]),
    ("timing.latency.decimal", &[Class::Decimal]),
    ("timing.latency.vector_logical", &[Class::VectorLogical]),
    ("timing.latency.vector_simple", &[Class::VectorSimple]),
    ("timing.latency.vector_permute", &[Class::VectorPermute]),
    ("timing.latency.vector_floating", &[Class::VectorFloating]),
    ("timing.latency.vector_complex", &[Class::VectorComplex]),
    ("timing.latency.vector_divide_single", &[Class::VectorDivideSingle]),
    ("timing.latency.vector_divide", &[Class::VectorDivide]),
    ("timing.latency.crypto", &[Class::Crypto]),
    ("timing.latency.quad", &[Class::Quad]),
    ("timing.latency.quad_multiply", &[Class::QuadMultiply]),
    ("timing.latency.quad_divide", &[Class::QuadDivide]),
    ("timing.latency.vector_move", &[Class::VectorMove]),
    ("timing.latency.vector_status", &[Class::VectorStatus]),
    ("timing.latency.load_algebraic", &[Class::LoadAlgebraic]),
    ("timing.latency.load_single", &[Class::LoadSingle]),
    ("timing.latency.load_double", &[Class::LoadDouble]),
    ("timing.latency.load_vector", &[Class::LoadVector]),
    (SPR_READ, &[Class::SprRead, Class::MsrRead]),
    (SPR_WRITE, &[Class::SprWrite]),
    (CFAR_READ, &[]),
    (HDSISR_WRITE, &[]),
    ("timing.special.time_base", &[Class::TimeBaseRead]),
    ("timing.special.msr_enable", &[Class::MsrEnable]),
    ("timing.special.msr_write", &[Class::MsrWrite]),
    ("timing.special.context_write", &[Class::ContextWrite]),
    ("timing.special.isync", &[Class::Isync]),
    ("timing.special.hwsync", &[Class::Hwsync]),
    ("timing.special.lwsync", &[Class::Lwsync]),
    ("timing.special.eieio", &[Class::Eieio]),
    ("timing.special.ptesync", &[Class::Ptesync]),
    ("timing.special.tlbsync", &[Class::Tlbsync]),
    ("timing.special.tlbiel", &[Class::Tlbie, Class::Tlbiel]),
    ("timing.special.tlbie_broadcast", &[Class::Tlbie]),
    ("timing.special.tlbie_service", &[Class::Tlbie]),
    ("timing.special.reservation", &[Class::StoreConditional, Class::Atomic]),
    ("timing.special.segment", &[Class::Segment]),
    ("timing.special.management", &[Class::FlushLine, Class::Management]),
    ("timing.special.data_flush", &[Class::FlushData]),
    ("timing.special.target_flush", &[Class::FlushTargets]),
    ("timing.special.speculation_barrier", &[Class::SpeculationBarrier]),
];
const SPR_READ: &str = "timing.special.spr_read";
const SPR_WRITE: &str = "timing.special.spr_write";
/// Registers that were measured by themselves.
const CFAR_READ: &str = "timing.special.cfar_read";
const HDSISR_WRITE: &str = "timing.special.hdsisr_write";
/// The prices of a miss in the ERAT, and of one in the TLB.
const ERAT_MISS: &str = "timing.translation.erat_miss";
const WALKS: [&str; 2] = ["timing.translation.walk_overhead", "timing.translation.search_overhead"];

/// The values of the description that the instruction `word` pays, of those whose events are counted.
fn prices(mnemonic: Option<Mnemonic>, word: Word) -> Vec<&'static str> {
    let class = class(mnemonic, word);
    let spr = || SprRow::of_number(word.spr()).map(|row| row.spr);
    match class {
        Class::SprRead if spr() == Some(Spr::Cfar) => vec![CFAR_READ],
        Class::SprWrite if spr() == Some(Spr::Hdsisr) => vec![HDSISR_WRITE],
        _ => PRICES.iter().filter(|(_, of)| of.contains(&class)).map(|(key, _)| *key).collect(),
    }
}

/// What a hardware thread did not find.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Misses {
    /// Lines, in the L1 caches.
    pub l1: u64,
    /// Lines, in the L2.
    pub l2: u64,
    /// Lines, in the L3.
    pub l3: u64,
    /// Translations, in the ERATs.
    pub erat: u64,
    /// Translations, in the TLB: each is a walk of the tables.
    pub tlb: u64,
}

impl Misses {
    fn of(machine: &Machine, thread: usize) -> Self {
        let Some(timing) = machine.timing() else { return Self::default() };
        let (lines, translations) = timing.misses(thread);
        let (l1, l2, l3) = (lines.l1, lines.l2, lines.l3);
        Self { l1, l2, l3, erat: translations.erat, tlb: translations.tlb }
    }

    /// With what came from `before` to `now`.
    fn add(&mut self, before: Self, now: Self) {
        self.l1 += now.l1 - before.l1;
        self.l2 += now.l2 - before.l2;
        self.l3 += now.l3 - before.l3;
        self.erat += now.erat - before.erat;
        self.tlb += now.tlb - before.tlb;
    }
}

/// What a region met.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Met {
    /// Of the threads that were in the region, while they were.
    pub misses: Misses,
    /// What the prefetch engines did meanwhile.
    pub engine: Work,
    /// What a line saves at most that is in the L2, to somebody who waits for it alone.
    pub savings: Savings,
    /// By each value of the description that has events, how many there were while a thread was in the region.
    pub events: BTreeMap<&'static str, u64>,
}

/// Counts what a region meets.
#[derive(Clone, Debug)]
pub struct RegionEvents {
    region: u16,
    extent: Extent,
    /// The threads that are in the region, or the one that began it for all.
    open: BTreeSet<usize>,
    /// Those that were at the last sample.
    were_open: BTreeSet<usize>,
    words: FxHashMap<u32, (Option<Mnemonic>, u64)>,
    /// Of each thread, at the last sample.
    last: BTreeMap<usize, Misses>,
    misses: Misses,
    /// Of all engines, at the last sample.
    last_engine: Work,
    engine: Work,
    savings: Savings,
}

impl RegionEvents {
    /// Nothing met yet.
    #[must_use]
    pub fn new(region: Region, extent: Extent) -> Self {
        Self {
            region: region.number(),
            extent,
            open: BTreeSet::new(),
            were_open: BTreeSet::new(),
            words: FxHashMap::default(),
            last: BTreeMap::new(),
            misses: Misses::default(),
            last_engine: Work::default(),
            engine: Work::default(),
            savings: Savings::default(),
        }
    }

    fn is_marked(&self, thread: &Thread, region: Region) -> bool {
        region.number() == self.region && self.extent.hears(thread)
    }

    /// Counts the misses until now. To be called at each begin and end of the region: what lies before a begin,
    /// or behind an end, is no part of it.
    pub fn sample(&mut self, machine: &Machine) {
        let were_open = mem::replace(&mut self.were_open, self.open.clone());
        for thread in 0..machine.state().threads.len() {
            let now = Misses::of(machine, thread);
            let before = self.last.insert(thread, now).unwrap_or_default();
            let is_everywhere = matches!(self.extent, Extent::Of(_)) && !were_open.is_empty();
            if is_everywhere || were_open.contains(&thread) {
                self.misses.add(before, now);
            }
        }
        let engines = machine.state().shared.cores.iter().map(|core| core.engine.work);
        let now = engines.fold(Work::default(), Work::plus);
        let before = mem::replace(&mut self.last_engine, now);
        if !were_open.is_empty() {
            self.engine = self.engine.plus(now.since(before));
        }
        if let Some(timing) = machine.timing() {
            self.savings = timing.savings();
        }
    }

    /// What there was in all.
    #[must_use]
    pub fn met(&self) -> Met {
        let mut events: BTreeMap<_, _> = PRICES.iter().map(|(key, _)| (*key, 0)).collect();
        for (&word, &(mnemonic, count)) in &self.words {
            for key in prices(mnemonic, Word(word)) {
                *events.entry(key).or_default() += count;
            }
        }
        events.insert(ERAT_MISS, self.misses.erat);
        events.extend(WALKS.map(|key| (key, self.misses.tlb)));
        let Self { misses, engine, savings, .. } = *self;
        Met { misses, engine, savings, events }
    }
}

impl Observer for RegionEvents {
    const SEES_INSTRUCTIONS: bool = true;

    fn completed(&mut self, thread: &Thread, op: &Op, _: Mode) {
        if op.mnemonic == Some(Mnemonic::Tdi) {
            match Mark::from_word(op.word) {
                Some(Mark::Begin(region)) => self.region_began(thread, region),
                Some(Mark::End(region)) if self.is_marked(thread, region) => match self.extent {
                    Extent::Once | Extent::Repeated => {
                        self.open.remove(&thread.index);
                    }
                    Extent::Of(_) => self.open.clear(),
                },
                _ => {}
            }
        }
        if !self.open.is_empty() {
            self.words.entry(op.word.0).or_insert((op.mnemonic, 0)).1 += 1;
        }
    }

    fn region_began(&mut self, thread: &Thread, region: Region) {
        if self.is_marked(thread, region) {
            self.open.insert(thread.index);
        }
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use arch::instruction::{Mnemonic, TABLE, Word};
    use arch::registers::spr::Spr;
    use simulator::Description;
    use simulator::ledger::CauseSet;
    use simulator::pipeline::operation::Operation;
    use simulator::pipeline::parameters::Parameters;
    use simulator::quantity::Bound;

    use super::{CFAR_READ, HDSISR_WRITE, PRICES, prices};
    use crate::setting::apply;

    const POWER9: &str = include_str!("../../machines/power9.toml");

    fn parameters(text: &str) -> Parameters {
        Description::from_toml(text).unwrap().timing().unwrap().core_at(Bound::Value)
    }

    /// Every instruction, with each register that it may move, each L that it may have, and the words with a meaning of
    /// their own.
    fn words() -> Vec<(Mnemonic, Word)> {
        let special = |row: &arch::instruction::Row, spr: u16| {
            let spr = u32::from(spr);
            (row.mnemonic, Word(row.value | (spr & 31) << 16 | (spr >> 5) << 11))
        };
        let all = TABLE.iter().flat_map(|row| {
            let with = |bits: u32| (row.mnemonic, Word(row.value | bits));
            let mut words = [0, 1 << 16, 1 << 21, 2 << 21].map(with).to_vec();
            if matches!(row.mnemonic, Mnemonic::Mfspr | Mnemonic::Mtspr) {
                words.extend(Spr::ALL.iter().map(|spr| special(row, spr.row().number)));
                words.extend([1, 8, 9].map(|renamed| special(row, renamed)));
            }
            words
        });
        let own =
            [(Mnemonic::Ori, Word::SPECULATION_BARRIER), (Mnemonic::Bcctr, Word::TARGET_FLUSH)];
        all.chain(own).collect()
    }

    /// The pipeline is the judge: an instruction has the price whose change changes it.
    #[test]
    fn whoever_pays_a_value_is_an_event_of_it() {
        let latency = |parameters: &Parameters, (mnemonic, word): (Mnemonic, Word)| {
            Operation::new(Some(mnemonic), word, parameters, CauseSet::default()).latency
        };
        let before = parameters(POWER9);
        // What is paid beside the latency of a result.
        let elsewhere = ["isync", "tlbie_broadcast", "tlbie_service"];
        for (key, _) in PRICES {
            let (_, name) = key.rsplit_once('.').unwrap();
            if elsewhere.contains(&name) {
                continue;
            }
            let text = apply(POWER9, &[format!("{key}=77").parse().unwrap()]).unwrap();
            let after = parameters(&text);
            let words = words();
            let changed = |at: &&(Mnemonic, Word)| latency(&before, **at) != latency(&after, **at);
            let paid = |at: &&(Mnemonic, Word)| prices(Some(at.0), at.1).contains(key);
            let name = |at: &(Mnemonic, Word)| format!("{:?} {:#x}", at.0, at.1.0);
            let changed: BTreeSet<_> = words.iter().filter(changed).map(name).collect();
            let paid: BTreeSet<_> = words.iter().filter(paid).map(name).collect();
            assert_eq!(changed, paid, "{key}");
            assert!(!paid.is_empty(), "{key}");
        }
    }

    #[test]
    fn registers_that_were_measured_by_themselves_are_no_others() {
        let read = |spr: u32| Word(0x7C00_02A6 | (spr & 31) << 16 | (spr >> 5) << 11);
        assert_eq!(prices(Some(Mnemonic::Mfspr), read(28)), [CFAR_READ]);
        assert_eq!(prices(Some(Mnemonic::Mfspr), read(26)), ["timing.special.spr_read"]);
        assert!(PRICES.iter().any(|(key, _)| *key == HDSISR_WRITE));
    }
}
