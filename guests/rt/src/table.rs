//! A hashed page table of the kernel's own, where it runs bare.
//!
//! Callers write entries in ISA 2.07's form, as they do for H_ENTER; POWER9's is another. Several hardware threads may
//! enter entries at a time: a slot is locked from when it is chosen until its entry is valid, and from when that is
//! invalid until nobody has a translation by it. An entry is taken out by the thread that entered it. Broadcast
//! invalidations are as the architecture wants them, and the last one is repeated where a processor may do it before
//! earlier stores (`docs/facts/power9-translation.md#errata`). The other erratum is of threads that change PIDR or
//! LPIDR, which these do once.

use core::arch::asm;
use core::cell::UnsafeCell;
use core::sync::atomic::{AtomicBool, AtomicU64, Ordering};

use arch::address::RealAddress;
use arch::hash::{EntryForm, GROUP_ENTRIES, Table, VirtualPage, first};
use arch::processor::Processor;
use arch::registers::lpcr;

/// log2 of the bytes of POWER9's partition table, of which one entry is used, and what PTCR has for it. On POWER8 that
/// entry keeps what SDR1 has.
const PARTITIONS_LOG2: u32 = 16;
const PARTITIONS_SIZE: u64 = PARTITIONS_LOG2 as u64 - 12;

#[repr(C, align(0x10000))]
struct Partitions(UnsafeCell<[u64; 1 << (PARTITIONS_LOG2 - 3)]>);

// SAFETY: only `begin` uses it, once.
unsafe impl Sync for Partitions {}

static PARTITIONS: Partitions = Partitions(UnsafeCell::new([0; 1 << (PARTITIONS_LOG2 - 3)]));

/// Where the table lies.
static BASE: AtomicU64 = AtomicU64::new(0);
/// Its entries are in ISA 3.0's form.
static IS_V3: AtomicBool = AtomicBool::new(false);
/// The processor may do an invalidation before its thread's earlier stores.
static OVERTAKES_STORES: AtomicBool = AtomicBool::new(true);

macro_rules! write_register {
    ($number:literal, $value:expr) => {
        // SAFETY: translation is off, so that no address changes its meaning.
        unsafe { asm!("mtspr {}, {}", const $number, in(reg) $value, options(nostack)) }
    };
}

/// The processor that this is.
///
/// # Panics
/// If it is none of ours.
pub(crate) fn processor() -> Processor {
    let version = version();
    Processor::from_pvr(version).unwrap_or_else(|| panic!("processor version {version:#x}"))
}

/// PVR.
fn version() -> u32 {
    let version: u64;
    // SAFETY: reads a register.
    unsafe { asm!("mfspr {}, 287", out(reg) version, options(nomem, nostack)) };
    version as u32
}

/// Makes an empty table of 2^`bytes_log2` bytes at the real address `base`, a multiple of that, and gives it to the
/// processor, whose translation is off.
pub(crate) fn begin(base: u64, bytes_log2: u32) {
    BASE.store(base, Ordering::Relaxed);
    let facts = processor().facts();
    IS_V3.store(facts.hashed_entry == EntryForm::V3, Ordering::Relaxed);
    OVERTAKES_STORES.store(facts.overtakes_stores(version()), Ordering::Relaxed);
    (0..1 << (bytes_log2 - 3)).for_each(|index| store(base + 8 * index, 0));
    let table = Table { base: RealAddress(base), bytes_log2 }.to_doubleword(12);
    store(PARTITIONS.0.get().expose_provenance() as u64, table);
    join();
}

/// Gives the table to the processor, as each hardware thread does for itself; translation is off.
pub(crate) fn join() {
    let processor = processor();
    let partitions = PARTITIONS.0.get().expose_provenance() as u64;
    match processor {
        Processor::Power8 => write_register!(25, load(partitions)), // SDR1
        Processor::Power9 => write_register!(464, partitions | PARTITIONS_SIZE), // PTCR
    }
    write_register!(318, lpcr::AIL.set(lpcr::DPFD.set(0, 4), 3)); // LPCR
    write_register!(319, 0u64); // LPIDR
    write_register!(29, 0u64); // AMR
    write_register!(61, 0u64); // IAMR
    forget_all(processor);
}

/// PIR of this thread.
pub(crate) fn own_pir() -> u64 {
    let pir: u64;
    // SAFETY: reads a register.
    unsafe { asm!("mfspr {}, 1023", out(reg) pir, options(nomem, nostack)) };
    pir
}

/// `tlbiel RB=r4`, on POWER9 with RS=r0 and R=0.
const TLBIEL: u32 = 31 << 26 | 4 << 11 | 274 << 1;

/// Makes this thread forget all translations, and empties the segment lookaside buffer.
fn forget_all(processor: Processor) {
    /// RIC=2: what was read of the partition table, too.
    const ALL: u32 = TLBIEL | 2 << 18;
    const IS_ALL: u64 = 0xC00;
    if processor == Processor::Power9 {
        // SAFETY: as in `forget_classes`.
        unsafe {
            asm!("ptesync", ".long {}", const ALL, in("r0") 0, in("r4") IS_ALL, options(nostack))
        };
    }
    forget_classes(processor, IS_ALL);
    // SAFETY: with relocation off nothing is looked up in it.
    unsafe {
        asm!("slbmte {zero}, {zero}", "slbia", "isync", zero = in(reg) 0u64, options(nostack))
    };
}

/// Makes this core forget what `scope`, the field IS of `tlbiel`, names of each congruence class of its TLB
/// (`docs/facts/power9-translation.md#congruence-classes`, `docs/facts/power8.md#congruence-classes`).
fn forget_classes(processor: Processor, scope: u64) {
    /// The next congruence class in the operand.
    const NEXT_CLASS: u64 = 1 << 12;
    let classes = match processor {
        Processor::Power8 => 512,
        Processor::Power9 => 256,
    };
    // SAFETY: barriers, and forgetting cached translations changes no translation.
    unsafe {
        asm!("ptesync", options(nostack));
        for class in 0..classes {
            let operand = scope + class * NEXT_CLASS;
            asm!(".long {}", const TLBIEL, in("r0") 0, in("r4") operand, options(nostack));
        }
        asm!("ptesync", options(nostack));
    }
}

/// Where the table begins.
#[inline]
pub(crate) fn base() -> u64 {
    BASE.load(Ordering::Relaxed)
}

#[inline]
fn load(address: u64) -> u64 {
    // SAFETY: a doubleword of the table, to which no reference exists.
    u64::from_be(unsafe { (address as *const u64).read_volatile() })
}

#[inline]
fn store(address: u64, value: u64) {
    // SAFETY: a doubleword of a table, to which no reference exists.
    unsafe { (address as *mut u64).write_volatile(value.to_be()) };
}

/// Where a slot lies.
#[inline]
fn place(slot: u64) -> u64 {
    base() + 16 * slot
}

/// An entry in the processor's form.
#[inline]
fn in_form(entry: [u64; 2]) -> [u64; 2] {
    if !IS_V3.load(Ordering::Relaxed) {
        return entry;
    }
    let [first, second] = entry;
    let size = EntryForm::V2.segment_size.get(first);
    let first = EntryForm::V2.segment_size.set(first, 0);
    EntryForm::V3.with_segment_size([first, second], size)
}

/// An entry is on its way into this slot, or out of it: one of the bits of a first doubleword that the architecture
/// leaves to software.
const LOCK: u64 = 0x40;

/// Puts an entry, valid, into a free slot of the group whose first slot is `group`: the slot, or `None` if there is
/// none.
pub(crate) fn enter(group: u64, entry: [u64; 2]) -> Option<u64> {
    let slot = (group..group + GROUP_ENTRIES as u64).find(|slot| lock(*slot))?;
    let [first, second] = in_form(entry);
    store(place(slot) + 8, second);
    // SAFETY: a barrier: who finds the entry valid finds all of it.
    unsafe { asm!("eieio", options(nostack)) };
    store(place(slot), first);
    // SAFETY: a barrier: the next access finds the entry.
    unsafe { asm!("ptesync", options(nostack)) };
    Some(slot)
}

/// Locks a slot if it is free: whether it was, and nobody else has locked it meanwhile.
fn lock(slot: u64) -> bool {
    let found = load(place(slot));
    if found & (first::V | LOCK) != 0 {
        return false;
    }
    // SAFETY: a doubleword of the table, to which no reference exists; who else stores into it while it is free does so
    // by an atomic exchange.
    let word = unsafe { AtomicU64::from_ptr(place(slot) as *mut u64) };
    let [found, locked] = [found, LOCK].map(u64::to_be);
    word.compare_exchange(found, locked, Ordering::Acquire, Ordering::Relaxed).is_ok()
}

/// Makes the entry in a slot invalid, whose first doubleword is `first` but for its low bits. Translations by it may be
/// in use until [`forget`], and the slot is free behind [`free`].
///
/// # Panics
/// If another entry is there.
#[inline]
pub fn invalidate(slot: u64, first: u64) {
    const LOW: u64 = 0x7F;
    let [wanted, _] = in_form([first, 0]);
    let found = load(place(slot));
    assert!(
        found & first::V != 0 && (found ^ wanted) & !LOW == 0,
        "slot {slot:#x} has {found:#x}, not {wanted:#x}"
    );
    store(place(slot), LOCK);
}

/// Frees a slot whose entry was made invalid and [forgotten](forget): the second doubleword, with the last R and C.
#[must_use]
#[inline]
pub fn free(slot: u64) -> u64 {
    let second: u64;
    // SAFETY: doublewords of the table, to which no reference exists. What is stored, 0, hangs on what is loaded, so
    // that who finds the slot free stores behind the load.
    unsafe {
        asm!(
            "ld {second}, 8({place})",
            "xor {zero}, {second}, {second}",
            "std {zero}, 0({place})",
            place = in(reg_nonzero) place(slot),
            second = out(reg) second,
            zero = out(reg) _,
            options(nostack)
        );
    }
    u64::from_be(second)
}

/// The second doubleword of the entry in a slot.
#[must_use]
pub fn second(slot: u64) -> u64 {
    load(place(slot) + 8)
}

/// Clears R or C, `mark`, of the entry in a slot: whether it was set. Translations by it may be in use until
/// [`forget`]. Nothing is stored if it was not, since another thread's access may set it meanwhile.
#[must_use]
pub fn clear(slot: u64, mark: u64) -> bool {
    let byte = mark.ilog2() / 8;
    let mark = (mark >> (8 * byte)) as u8;
    let byte = (place(slot) + 15 - u64::from(byte)) as *mut u8;
    // SAFETY: a byte of the table, which only processors change besides, each mark in a byte of its own.
    unsafe {
        let before = byte.read_volatile();
        let was_set = before & mark != 0;
        if was_set {
            byte.write_volatile(before & !mark);
        }
        was_set
    }
}

/// Of more pages POWER9 forgets all translations at once, as Linux does with radix
/// (`docs/facts/hashed-translation.md#hashed-flush`).
const CEILING: usize = 33;
/// No such `tlbie` of POWER8 is known (`docs/facts/power8.md#congruence-classes`). There pages that one hardware thread
/// alone may have translations of are forgotten by as many `tlbiel` as there are congruence classes, of more pages than
/// these: of 34 that is dearer on our machine than a `tlbie` for each, of 64 cheaper. Pages that other threads of its
/// core use too are taken back one by one, as it would not wait for what these do by the old translations.
const CEILING_OF_CLASSES: usize = 63;

/// Makes the hardware threads that may have translations of so many pages forget them, or more, and waits until they
/// have, and until what was under way by these translations has ended. `is_own` says that only this hardware thread has
/// ever loaded the pages' segment.
pub fn forget(count: usize, pages: impl Iterator<Item = VirtualPage>, is_own: bool) {
    /// `tlbie RB=r4, RS=r3`, on POWER9 with R=0.
    const PAGE: u32 = 31 << 26 | 3 << 21 | 4 << 11 | 306 << 1;
    /// RIC=2: what was read of the partition table, too.
    const ALL: u32 = PAGE | 2 << 18;
    const IS_LPID: u64 = 0x800;
    let is_v3 = IS_V3.load(Ordering::Relaxed);
    if is_v3 && count > CEILING {
        forget_operands::<ALL>(core::iter::once(IS_LPID));
    } else if !is_v3 && count > CEILING_OF_CLASSES && is_own {
        forget_classes(Processor::Power8, IS_LPID);
    } else {
        forget_operands::<PAGE>(pages.map(|page| page.operand()));
    }
}

/// An instruction for each of these, which are of LPID 0.
fn forget_operands<const WORD: u32>(operands: impl Iterator<Item = u64>) {
    // SAFETY: barriers, and forgetting cached translations changes no translation.
    unsafe {
        asm!("ptesync", options(nostack));
        let mut last = None;
        for operand in operands {
            asm!(".long {}", const WORD, in("r3") 0, in("r4") operand, options(nostack));
            last = Some(operand);
        }
        if let Some(last) = last
            && OVERTAKES_STORES.load(Ordering::Relaxed)
        {
            asm!("ptesync", ".long {}", const WORD, in("r3") 0, in("r4") last, options(nostack));
        }
        asm!("eieio", "tlbsync", "ptesync", options(nostack));
    }
}
