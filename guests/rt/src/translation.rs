//! Switching translation on: a radix tree in which effective and guest real addresses are equal. Where the partition
//! has a hashed page table, [`hash`] does it.
//!
//! The tree belongs to PID 0, so it serves quadrant 0 (the payload, with PIDR=0) and quadrant 3
//! (the vectors that LPCR\[AIL\]=3 moves to 0xC000_0000_0000_4000) alike.

use core::arch::asm;
use core::cell::UnsafeCell;
use core::ptr;

use arch::address::RealAddress;
use arch::papr::{Hypercall, mode, process_table};
use arch::radix::{
    DIRECTORY_ENTRIES_LOG2, Entry, Leaf, ROOT_ENTRIES_LOG2, Root, SPACE_LOG2, rights,
};
use arch::registers::msr;

use crate::hash;
use crate::hypercall::hypercall;

const LARGE_LOG2: u32 = 21;
const DIRECTORY_ENTRIES: usize = 1 << DIRECTORY_ENTRIES_LOG2;

/// The tables: a root, one directory for the first 512 GiB and one for its first GiB.
#[repr(C, align(0x10000))]
struct Tables {
    root: [u64; 1 << ROOT_ENTRIES_LOG2],
    upper: [u64; DIRECTORY_ENTRIES],
    lower: [u64; DIRECTORY_ENTRIES],
    process: [[u64; 2]; 256],
}

struct Holder(UnsafeCell<Tables>);

// SAFETY: only `enable_translation` uses the tables, once, before other vCPUs join.
unsafe impl Sync for Holder {}

static TABLES: Holder = Holder(UnsafeCell::new(Tables {
    root: [0; 1 << ROOT_ENTRIES_LOG2],
    upper: [0; DIRECTORY_ENTRIES],
    lower: [0; DIRECTORY_ENTRIES],
    process: [[0; 2]; 256],
}));

fn store(entry: *mut u64, value: u64) {
    // SAFETY: an entry of TABLES, to which no reference exists.
    unsafe { ptr::write_volatile(entry, value.to_be()) };
}

fn directory(table: *mut u64) -> u64 {
    let base = RealAddress(table as u64);
    Entry::Directory { base, entries_log2: DIRECTORY_ENTRIES_LOG2 }.to_doubleword()
}

/// Maps the first `memory_bytes` bytes, up to 1 GiB, by this directory.
fn map(directory: *mut u64, memory_bytes: u64, rights: u64) {
    let pages = memory_bytes.div_ceil(1 << LARGE_LOG2).min(DIRECTORY_ENTRIES as u64);
    for page in 0..pages {
        let base = RealAddress(page << LARGE_LOG2);
        let leaf = Leaf { base, rights, attributes: 0, referenced: true, changed: true };
        store(directory.wrapping_add(page as usize), Entry::Leaf(leaf).to_doubleword());
    }
}

/// Where problem state finds the payload's memory.
pub(crate) const USERS_BASE: u64 = 1 << 30;

#[repr(C, align(4096))]
struct Directory(UnsafeCell<[u64; DIRECTORY_ENTRIES]>);

// SAFETY: only `share_with_users` uses it, once, before other vCPUs join.
unsafe impl Sync for Directory {}

static USERS: Directory = Directory(UnsafeCell::new([0; DIRECTORY_ENTRIES]));

/// Lets problem state read and execute the memory, at [`USERS_BASE`], once [`enable_translation`] has mapped it.
pub fn share_with_users(memory_bytes: u64) {
    if hash::is_used() {
        return hash::share_with_users(USERS_BASE, memory_bytes.min(USERS_BASE));
    }
    let directory_of_users = USERS.0.get().cast::<u64>();
    map(directory_of_users, memory_bytes, rights::READ | rights::EXECUTE);
    // SAFETY: the address of a field; nothing is read.
    let upper = unsafe { (&raw mut (*TABLES.0.get()).upper).cast::<u64>() };
    store(upper.wrapping_add(1), directory(directory_of_users));
    // SAFETY: a barrier.
    unsafe { asm!("ptesync", options(nostack)) };
}

/// Maps the first `memory_bytes` bytes, up to 1 GiB, and turns translation on with interrupts at
/// LPCR\[AIL\]=3. The last 2 MiB are mapped whole.
///
/// # Panics
/// If the hypervisor refuses the process table or the interrupt location.
pub fn enable_translation(memory_bytes: u64) {
    if hash::is_used() {
        hash::map_all(0..memory_bytes.min(USERS_BASE));
        relocate_interrupts();
        return join_translation();
    }
    let tables = TABLES.0.get();
    // SAFETY: addresses of fields; nothing is read.
    let (root, upper, lower, process) = unsafe {
        (
            (&raw mut (*tables).root).cast::<u64>(),
            (&raw mut (*tables).upper).cast::<u64>(),
            (&raw mut (*tables).lower).cast::<u64>(),
            (&raw mut (*tables).process).cast::<u64>(),
        )
    };
    map(lower, memory_bytes, rights::PRIVILEGED | rights::READ | rights::WRITE | rights::EXECUTE);
    store(upper, directory(lower));
    store(root, directory(upper));
    let base = RealAddress(root as u64);
    let tree = Root { space_log2: SPACE_LOG2, base, entries_log2: ROOT_ENTRIES_LOG2 };
    store(process, tree.to_doubleword());

    let flags = process_table::REGISTER | process_table::RADIX | process_table::GTSE;
    let size = 0; // 2^12 bytes
    let status = hypercall(Hypercall::RegisterProcTbl as u64, [flags, process as u64, 0, size]);
    assert_eq!(status, 0, "H_REGISTER_PROC_TBL");
    relocate_interrupts();
    join_translation();
}

fn relocate_interrupts() {
    let status = hypercall(Hypercall::SetMode as u64, [3, mode::INTERRUPT_LOCATION, 0, 0]);
    assert_eq!(status, 0, "H_SET_MODE, interrupt location");
}

/// Turns translation on, on another vCPU than the one that has enabled it.
pub fn join_translation() {
    if hash::is_used() {
        return hash::join();
    }
    const { assert!(msr::IR | msr::DR == 0x30) };
    // SAFETY: every address keeps its meaning. PIDR 0 is what the tree was registered for.
    unsafe {
        asm!(
            "mtspr 48, {zero}",         // PIDR
            "ptesync",
            "isync",
            "mfmsr {msr}",
            "ori {msr}, {msr}, 0x30",
            "mtmsrd {msr}",
            "isync",
            zero = in(reg) 0u64,
            msr = out(reg_nonzero) _,
            options(nostack),
        );
    }
}
