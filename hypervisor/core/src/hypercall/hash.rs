//! The calls of the hashed page table, with the partition unlocked: each entry has a lock of its own.
//!
//! Source: `docs/facts/papr.md#hashed-page-table`.

use arch::address::GuestRealAddress;
use arch::hash::{GROUP_ENTRIES, second};
use arch::papr::Hypercall;
use arch::papr::hashed::{
    ABSOLUTE, AND_CONDITION, AVPN, BLOCK, BLOCK_BEYOND, BLOCK_BUSY, BLOCK_BY_AVPN, BLOCK_DONE,
    BLOCK_MARKS, BLOCK_MISSING, BLOCK_RESULT, BLOCK_UNLIKE, BLOCK_WRONG, BY_AND, BY_AVPN,
    CONDITION, DONE, END, EXACT, KEY_HIGH, KIND, MARKS, MISSING, PAIRS, PP0, READ_4, REQUEST,
    RESPONSE, RESULT, RIGHTS, SLOT, TRANSLATE, WRONG,
};
use arch::papr::status::{
    H_CONTINUE, H_FUNCTION, H_NOT_FOUND, H_PARAMETER, H_PARTIAL, H_PTEG_FULL, H_SUCCESS,
    H_UNSUPPORTED_FLAG_START,
};

use crate::guest_memory::given::Given;
use crate::hal::Tables;
use crate::hash_table::{Checked, Condition, HashTable, Kept, form};

/// Arguments, and outputs, from r4 to r11.
pub const WORDS: usize = 8;

/// Entries that H_READ reads with [`READ_4`].
const SEVERAL: u64 = 4;

/// A status, and what goes into r4 to r11 with it.
pub type HashAnswer = (i64, [u64; WORDS]);

/// Answers a call of the hashed page table with the arguments r4 to r11, but H_BLOCK_REMOVE ([`of_block`]).
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
        Hypercall::ClearHpt => {
            return status(if table.remove_next(hal) { H_CONTINUE } else { H_SUCCESS });
        }
        _ => return status(H_FUNCTION),
    };
    if flags & !known != 0 {
        return status(H_UNSUPPORTED_FLAG_START - i64::from((flags & !known).leading_zeros()));
    }
    if slot >= table.slots() {
        return status(H_PARAMETER);
    }
    let condition = condition(flags, third);
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
            table.enter(hal, slots, &checked).map_or(status(H_PTEG_FULL), |slot| outputs([slot]))
        }
        Hypercall::Remove => {
            table.remove(hal, slot, condition).map_or(status(H_NOT_FOUND), outputs)
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
            let changed = table.protect(hal, slot, condition, flags);
            status(changed.map_or(H_NOT_FOUND, |()| H_SUCCESS))
        }
        Hypercall::ClearRef => found(table.clear(hal, slot, second::R)),
        _ => found(table.clear(hal, slot, second::C)),
    }
}

/// On which condition a call with these flags and this argument means an entry.
#[inline(always)]
fn condition(flags: u64, argument: u64) -> Condition {
    let if_set = |flag| (flags & flag != 0).then_some(argument);
    Condition::new(if_set(AVPN), if_set(AND_CONDITION))
}

/// Whether such a call changes an entry of a large block, whose pages have to get their own size back first: it is to
/// be made again then.
#[inline(always)]
pub(crate) fn divides_first<H: Tables>(
    table: &HashTable,
    call: Hypercall,
    arguments: &[u64; WORDS],
) -> bool {
    match call {
        Hypercall::Enter | Hypercall::Read => false,
        Hypercall::Remove | Hypercall::Protect | Hypercall::ClearRef | Hypercall::ClearMod => {
            table.is_large(arguments[1]) && divides::<H>(table, call, arguments)
        }
        _ => divides::<H>(table, call, arguments),
    }
}

/// The same, asked of each entry that the call names.
#[cold]
#[inline(never)]
fn divides<H: Tables>(table: &HashTable, call: Hypercall, arguments: &[u64; WORDS]) -> bool {
    let [flags, slot, third, ..] = *arguments;
    let divides = |slot, condition, rights| table.divides::<H>(slot, condition, rights);
    match call {
        Hypercall::BulkRemove => {
            let (requests, _) = requests(table, arguments);
            let mut requests = requests.into_iter().flatten();
            requests.any(|(slot, condition)| table.is_large(slot) && divides(slot, condition, None))
        }
        Hypercall::ClearHpt => table.next().any(|slot| divides(slot, Condition::default(), None)),
        Hypercall::Protect => divides(slot, condition(flags, third), Some(flags)),
        Hypercall::Remove | Hypercall::ClearRef | Hypercall::ClearMod => {
            divides(slot, condition(flags, third), None)
        }
        _ => false,
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

/// The entries that H_BULK_REMOVE names, to the first request that is wrong, which is the other output, or the end of
/// them.
#[inline(always)]
fn requests(
    table: &HashTable,
    words: &[u64; WORDS],
) -> ([Option<(u64, Condition)>; PAIRS], Option<usize>) {
    let mut requests = [None; PAIRS];
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
            return (requests, Some(index));
        };
        requests[index] = Some((slot, condition));
    }
    (requests, None)
}

/// H_BULK_REMOVE: up to four requests.
fn remove_several<H: Tables>(table: &HashTable, hal: &H, mut words: [u64; WORDS]) -> HashAnswer {
    let (requests, wrong) = requests(table, &words);
    let removed = table.remove_all(hal, requests);
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
    (if wrong.is_some() { H_PARAMETER } else { H_SUCCESS }, words)
}

const RESPONSE_HEAD: u64 = KIND.set(0, RESPONSE);

/// The entries that H_BLOCK_REMOVE names in the table, to the end of its requests, and how many requests these are;
/// none if something else comes before the end.
fn block_requests(
    table: &HashTable,
    address: u64,
    words: &[u64; BLOCK],
) -> ([Option<(u64, Condition)>; BLOCK], Option<usize>) {
    let end = words.iter().position(|word| KIND.get(*word) == END).unwrap_or(BLOCK);
    let mut requests = [None; BLOCK];
    if words[..end].iter().any(|word| KIND.get(*word) != REQUEST) {
        return (requests, None);
    }
    for (request, word) in requests.iter_mut().zip(&words[..end]) {
        let address = (word & BLOCK_BY_AVPN != 0).then_some(address & !0x7F);
        let slot = SLOT.get(*word);
        *request = (slot < table.slots()).then_some((slot, Condition::new(address, None)));
    }
    (requests, Some(end))
}

/// Whether H_BLOCK_REMOVE with the arguments r4 to r12 changes an entry of a large block, as [`divides_first`].
#[cold]
pub(crate) fn block_divides_first<H: Tables>(
    table: &HashTable,
    [address, words @ ..]: [u64; 1 + BLOCK],
) -> bool {
    let (requests, _) = block_requests(table, address, &words);
    let mut requests = requests.into_iter().flatten();
    requests.any(|(slot, condition)| table.divides::<H>(slot, condition, None))
}

/// Answers H_BLOCK_REMOVE, of up to eight requests, with the arguments r4 to r12.
pub(crate) fn of_block<H: Tables>(
    table: &HashTable,
    hal: &H,
    [address, mut words @ ..]: [u64; 1 + BLOCK],
) -> HashAnswer {
    let (requests, Some(count)) = block_requests(table, address, &words) else {
        return status(H_PARAMETER);
    };
    let removed = table.remove_block(hal, requests);
    let mut status = H_SUCCESS;
    for (word, removed) in words[..count].iter_mut().zip(removed) {
        let (result, marks) = match removed {
            Some(Ok(written)) => {
                const { assert!(second::R == 0x100 && second::C == 0x80) };
                (BLOCK_DONE, (written[1] & (second::R | second::C)) >> 7)
            }
            None | Some(Err(Kept::Wrong)) => (BLOCK_WRONG, 0),
            Some(Err(Kept::Missing)) => (BLOCK_MISSING, 0),
            Some(Err(Kept::Unlike)) => (BLOCK_UNLIKE, 0),
            Some(Err(Kept::Busy)) => (BLOCK_BUSY, 0),
            Some(Err(Kept::Beyond)) => (BLOCK_BEYOND, 0),
        };
        if result != BLOCK_DONE {
            status = H_PARTIAL;
        }
        let answer = RESPONSE_HEAD | *word & (BLOCK_BY_AVPN | SLOT.mask());
        *word = BLOCK_MARKS.set(BLOCK_RESULT.set(answer, result), marks);
    }
    (status, words)
}
