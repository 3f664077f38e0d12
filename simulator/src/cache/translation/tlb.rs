//! The TLB of a core, which holds fewer translations by radix trees than by hashed page tables.
//!
//! Half of the classes hold both kinds. Those of the other half hold hashed translations, or what walks of
//! radix trees remember, which `radix` keeps. What becomes of them in a core that makes both was not found: a
//! parameter says whether hashed translations lose them for good with the first one by radix trees.

use serde::{Deserialize, Serialize};

use super::Known;
use crate::cache::array::Array;
use crate::cache::parameters::TranslationParameters;
use crate::ledger::Side;
use crate::state::tlb::Space;

/// A core's TLB.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub(super) struct Tlb {
    /// What any translation may use.
    any: Array<Known>,
    /// What hashed translations have besides.
    hashed: Option<Array<Known>>,
    /// The bit of a tag that says in which of them a hashed translation is.
    class_bit: u64,
    /// Whether translations by radix trees take `hashed` away.
    is_taken_away: bool,
}

impl Tlb {
    pub(super) fn new(parameters: &TranslationParameters) -> Self {
        let TranslationParameters {
            tlb_entries,
            tlb_entries_hashed,
            tlb_entries_mixed,
            tlb_ways,
            ..
        } = *parameters;
        // Without radix trees there is no half that they could not use.
        let entries = if tlb_entries == 0 { tlb_entries_hashed } else { tlb_entries };
        let sets = entries / tlb_ways;
        let array = || Array::new(sets, tlb_ways);
        Self {
            any: array(),
            hashed: (tlb_entries_hashed > entries).then(array),
            class_bit: sets,
            is_taken_away: tlb_entries_mixed < tlb_entries_hashed,
        }
    }

    /// Where a translation of this tag is, in the space that the tag names.
    fn array(&mut self, tag: u64, of: Space) -> &mut Array<Known> {
        if !of.is_hashed() {
            self.hashed.take_if(|_| self.is_taken_away);
        } else if tag & self.class_bit != 0
            && let Some(hashed) = &mut self.hashed
        {
            return hashed;
        }
        &mut self.any
    }

    /// The first of these tags of one space that is here, and what is known of it, which is used by `side`.
    pub(super) fn find(&mut self, tags: &[u64], of: Space, side: Side) -> Option<(u64, Known)> {
        tags.iter().find_map(|&tag| Some((tag, *self.array(tag, of).touch(tag, side)?)))
    }

    /// Puts in what is not here, for `side`. Whether a foreign owner had displaced it.
    pub(super) fn install(&mut self, tag: u64, of: Space, side: Side, known: Known) -> bool {
        let array = self.array(tag, of);
        let is_refill = array.take_loss(tag, side);
        array.install(tag, side, Known { is_refill, ..known }, side);
        is_refill
    }

    /// Drops what `is_gone` names.
    pub(super) fn remove_if(&mut self, is_gone: impl Fn(u64, &Known) -> bool) {
        self.any.remove_if(&is_gone);
        if let Some(hashed) = &mut self.hashed {
            hashed.remove_if(is_gone);
        }
    }

    /// Drops everything.
    pub(super) fn forget(&mut self) {
        self.any.forget();
        if let Some(hashed) = &mut self.hashed {
            hashed.forget();
        }
    }
}
