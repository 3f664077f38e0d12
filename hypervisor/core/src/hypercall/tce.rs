//! H_PUT_TCE, H_GET_TCE, H_PUT_TCE_INDIRECT and H_STUFF_TCE: what a partition's devices see of its memory.

use arch::address::GuestRealAddress;
use arch::papr::status::{H_PARAMETER, H_SUCCESS};
use arch::papr::tce::{LIST_MAX, PAGE_LOG2, WINDOW};

use super::{Answer, refused};
use crate::devices::tce::Window;
use crate::hal::{Memory, Platform};
use crate::partition::Partition;

/// The partition's window, if it has one of this number.
const fn window<H: Memory>(partition: &mut Partition<H>, number: u64) -> Option<&mut Window> {
    if number == WINDOW { partition.window.as_mut() } else { None }
}

pub(super) fn get<H: Memory>(partition: &mut Partition<H>, number: u64, address: u64) -> Answer {
    let entry = window(partition, number).and_then(|window| window.entry(address));
    entry.map_or(Answer::Status(H_PARAMETER), |entry| Answer::Outputs(H_SUCCESS, [entry, 0, 0]))
}

/// The same `entry` for `count` pages from `address` on.
pub(super) fn put<H: Memory>(
    partition: &mut Partition<H>,
    number: u64,
    address: u64,
    entry: u64,
    count: u64,
) -> i64 {
    let window = window(partition, number).filter(|window| window.check(entry));
    let Some(pages) = window.and_then(|window| window.pages_mut(address, count)) else {
        return H_PARAMETER;
    };
    pages.fill(entry);
    H_SUCCESS
}

/// Entries from a list in the partition's memory: all of them, or none.
#[inline(never)]
pub(super) fn put_list<H: Memory + Platform>(
    partition: &mut Partition<H>,
    hal: &H,
    number: u64,
    address: u64,
    list: u64,
    count: u64,
) -> Answer {
    let list = GuestRealAddress(list);
    let Some(window) = window(partition, number) else { return Answer::Status(H_PARAMETER) };
    let fits = window.pages_mut(address, count).is_some();
    if count > LIST_MAX || !list.is_aligned(PAGE_LOG2) || !fits {
        return Answer::Status(H_PARAMETER);
    }
    let mut bytes = [0; 1 << PAGE_LOG2];
    let bytes = &mut bytes[..8 * count as usize];
    if let Err(error) = partition.memory.read(hal, list, bytes) {
        return refused(error);
    }
    let Some(window) = partition.window.as_mut() else { return Answer::Status(H_PARAMETER) };
    let (words, _) = bytes.as_chunks::<8>();
    if !words.iter().all(|word| window.check(u64::from_be_bytes(*word))) {
        return Answer::Status(H_PARAMETER);
    }
    let pages = window.pages_mut(address, count).into_iter().flatten();
    for (entry, word) in pages.zip(words) {
        *entry = u64::from_be_bytes(*word);
    }
    Answer::Status(H_SUCCESS)
}
