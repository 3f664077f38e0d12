//! H_PUT_TCE, H_GET_TCE, H_PUT_TCE_INDIRECT and H_STUFF_TCE: what a partition's devices see of its memory.

use arch::address::GuestRealAddress;
use arch::papr::status::{H_PARAMETER, H_SUCCESS};
use arch::papr::tce::{LIST_MAX, PAGE_LOG2};

use super::{Answer, refused};
use crate::devices::tce::Window;
use crate::guest_memory::unlocked::Unlocked;
use crate::hal::Windows;

pub(super) fn get(window: &Window, address: u64) -> Answer {
    let entry = window.entry(address);
    entry.map_or(Answer::Status(H_PARAMETER), |entry| Answer::Outputs(H_SUCCESS, [entry, 0, 0]))
}

/// The same `entry` for `count` pages from `address` on.
pub(super) fn put(window: &Window, address: u64, entry: u64, count: u64) -> i64 {
    let Some(pages) = window.pages(address, count).filter(|_| window.check(entry)) else {
        return H_PARAMETER;
    };
    pages.iter().for_each(|page| page.set(entry));
    H_SUCCESS
}

/// Entries from a list in the partition's memory: all of them, or none.
#[inline(never)]
pub(super) fn put_list<H: Windows>(
    window: &Window,
    memory: &Unlocked<'_, H>,
    address: u64,
    list: u64,
    count: u64,
) -> Answer {
    let list = GuestRealAddress(list);
    let pages = window.pages(address, count);
    let Some(pages) = pages.filter(|_| count <= LIST_MAX && list.is_aligned(PAGE_LOG2)) else {
        return Answer::Status(H_PARAMETER);
    };
    if memory.given.real(list, 1 << PAGE_LOG2).is_none() {
        return Answer::Status(H_PARAMETER);
    }
    let mut bytes = [0; 1 << PAGE_LOG2];
    let bytes = &mut bytes[..8 * count as usize];
    if let Err(error) = memory.read(list, bytes) {
        return refused(error);
    }
    let (words, _) = bytes.as_chunks::<8>();
    if !words.iter().all(|word| window.check(u64::from_be_bytes(*word))) {
        return Answer::Status(H_PARAMETER);
    }
    for (page, word) in pages.iter().zip(words) {
        page.set(u64::from_be_bytes(*word));
    }
    Answer::Status(H_SUCCESS)
}
