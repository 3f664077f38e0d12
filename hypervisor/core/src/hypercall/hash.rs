//! The calls of the hashed page table, with the partition unlocked: each entry has a lock of its own.
//!
//! Source: `docs/facts/papr.md#hashed-page-table`.

use arch::address::GuestRealAddress;
use arch::hash::{GROUP_ENTRIES, second};
use arch::papr::Hypercall;
use arch::papr::hashed::{
    ABSOLUTE, AND_CONDITION, AVPN, BY_AND, BY_AVPN, CONDITION, DONE, END, EXACT, KEY_HIGH, KIND,
    MARKS, MISSING, PAIRS, PP0, READ_4, REQUEST, RESPONSE, RESULT, RIGHTS, SLOT, TRANSLATE, WRONG,
};
use arch::papr::status::{
    H_FUNCTION, H_NOT_FOUND, H_PARAMETER, H_PTEG_FULL, H_SUCCESS, H_UNSUPPORTED_FLAG_START,
};

use crate::guest_memory::given::Given;
use crate::hal::Tables;
use crate::hash_table::{Checked, Condition, HashTable, form};

/// Arguments, and outputs, from r4 to r11.
pub const WORDS: usize = 8;

/// Entries that H_READ reads with [`READ_4`].
const SEVERAL: u64 = 4;

/// A status, and what goes into r4 to r11 with it.
pub type HashAnswer = (i64, [u64; WORDS]);

/// Answers a call of the hashed page table with the arguments r4 to r11.
pub(crate) fn of_hash_table<H: Tables>(
    table: &HashTable,
    given: &Given,
    hal: &H,
    call: Hypercall,
    arguments: [u64; WORDS],
) -> HashAnswer {
    let [flags, slot, third, fourth, ..] = arguments;
    let known = match call {
        Hypercall::Enter => EXACT,
        Hypercall::Remove => AVPN | AND_CONDITION,
        Hypercall::Read => TRANSLATE | READ_4,
        Hypercall::Protect => AVPN | PP0 | KEY_HIGH | RIGHTS,
        Hypercall::ClearRef | Hypercall::ClearMod => 0,
        Hypercall::BulkRemove => return remove_several(table, hal, arguments),
        _ => return status(H_FUNCTION),
    };
    if flags & !known != 0 {
        return status(H_UNSUPPORTED_FLAG_START - i64::from((flags & !known).leading_zeros()));
    }
    if slot >= table.slots() {
        return status(H_PARAMETER);
    }
    let if_set = |flag| (flags & flag != 0).then_some(third);
    let condition = Condition::new(if_set(AVPN), if_set(AND_CONDITION));
    let found = |word: Option<u64>| word.map_or(status(H_NOT_FOUND), |word| outputs([word]));
    match call {
        Hypercall::Enter => {
            let find = |address: GuestRealAddress, bytes| given.real(address, bytes);
            let Some(checked) = Checked::new(form::<H>(), third, fourth, find) else {
                return status(H_PARAMETER);
            };
            let group = slot / GROUP_ENTRIES as u64 * GROUP_ENTRIES as u64;
            let slots = match flags & EXACT {
                0 => group..group + GROUP_ENTRIES as u64,
                _ => slot..slot + 1,
            };
            let Some(slot) = table.enter(hal, slots, &checked) else { return status(H_PTEG_FULL) };
            if table.may_have_superpages() {
                table.has_come(hal, slot, [third, fourth]);
            }
            outputs([slot])
        }
        Hypercall::Remove => {
            let requests = [Some((slot, condition))];
            if table.may_have_superpages() {
                table.before_removals(hal, requests);
            }
            match table.remove(hal, requests) {
                [Some(written)] => outputs(written),
                [None] => status(H_NOT_FOUND),
            }
        }
        Hypercall::Read if flags & READ_4 != 0 => {
            let mut words = [0; WORDS];
            let first = slot / SEVERAL * SEVERAL;
            for (pair, slot) in words.chunks_exact_mut(2).zip(first..) {
                pair.copy_from_slice(&table.read::<H>(slot));
            }
            (H_SUCCESS, words)
        }
        Hypercall::Read => outputs(table.read::<H>(slot)),
        Hypercall::Protect => {
            if table.may_have_superpages() && table.before_change(hal, slot, condition, Some(flags))
            {
                return status(H_SUCCESS);
            }
            if table.protect(hal, slot, condition, flags).is_none() {
                return status(H_NOT_FOUND);
            }
            if table.may_have_superpages() {
                table.has_changed(hal, slot);
            }
            status(H_SUCCESS)
        }
        _ => {
            if table.may_have_superpages() {
                table.before_change(hal, slot, condition, None);
            }
            let mark = if call == Hypercall::ClearRef { second::R } else { second::C };
            found(table.clear(hal, slot, mark))
        }
    }
}

const fn status(status: i64) -> HashAnswer {
    (status, [0; WORDS])
}

fn outputs<const COUNT: usize>(outputs: [u64; COUNT]) -> HashAnswer {
    let mut words = [0; WORDS];
    words[..COUNT].copy_from_slice(&outputs);
    (H_SUCCESS, words)
}

/// H_BULK_REMOVE: up to four requests, to the first that is wrong or the end of them.
fn remove_several<H: Tables>(table: &HashTable, hal: &H, mut words: [u64; WORDS]) -> HashAnswer {
    let mut requests = [None; PAIRS];
    let mut result = H_SUCCESS;
    let mut wrong = None;
    for (index, pair) in words.chunks_exact(2).enumerate() {
        let (head, address) = (pair[0], pair[1]);
        if KIND.get(head) == END {
            break;
        }
        let condition = match CONDITION.get(head) {
            ABSOLUTE => Some(Condition::default()),
            BY_AND => Some(Condition::new(None, Some(address))),
            BY_AVPN => Some(Condition::new(Some(address), None)),
            _ => None,
        };
        let slot = SLOT.get(head);
        let is_request = KIND.get(head) == REQUEST && slot < table.slots();
        let Some(condition) = condition.filter(|_| is_request) else {
            (result, wrong) = (H_PARAMETER, Some(index));
            break;
        };
        requests[index] = Some((slot, condition));
    }
    if table.may_have_superpages() {
        table.before_removals(hal, requests);
    }
    let removed = table.remove(hal, requests);
    for (index, request) in requests.iter().enumerate() {
        let head = &mut words[2 * index];
        let answer = RESPONSE_HEAD | *head & (CONDITION.mask() | SLOT.mask());
        if let Some(written) = removed[index] {
            const { assert!(second::R == 0x100 && second::C == 0x80) };
            let marks = (written[1] & (second::R | second::C)) >> 7;
            *head = MARKS.set(RESULT.set(answer, DONE), marks);
        } else if request.is_some() {
            *head = RESULT.set(answer, MISSING);
        } else if wrong == Some(index) {
            *head = RESULT.set(answer, WRONG);
        }
    }
    (result, words)
}

const RESPONSE_HEAD: u64 = KIND.set(0, RESPONSE);
