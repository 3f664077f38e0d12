//! Special-purpose registers and the invalidation sequences, as functions.

use core::arch::asm;

/// Numbers of special-purpose registers, as the Power ISA has them.
pub(crate) mod spr {
    pub(crate) const DSCR: u16 = 17;
    pub(crate) const DSISR: u16 = 18;
    pub(crate) const DAR: u16 = 19;
    pub(crate) const DEC: u16 = 22;
    pub(crate) const SRR0: u16 = 26;
    pub(crate) const SRR1: u16 = 27;
    pub(crate) const CFAR: u16 = 28;
    pub(crate) const AMR: u16 = 29;
    pub(crate) const PIDR: u16 = 48;
    pub(crate) const IAMR: u16 = 61;
    pub(crate) const TFHAR: u16 = 128;
    pub(crate) const TFIAR: u16 = 129;
    pub(crate) const TEXASR: u16 = 130;
    pub(crate) const CTRL_READ: u16 = 136;
    pub(crate) const TIDR: u16 = 144;
    pub(crate) const CTRL_WRITE: u16 = 152;
    pub(crate) const FSCR: u16 = 153;
    pub(crate) const UAMOR: u16 = 157;
    pub(crate) const PSPB: u16 = 159;
    pub(crate) const DPDES: u16 = 176;
    pub(crate) const DAWR0: u16 = 180;
    pub(crate) const CIABR: u16 = 187;
    pub(crate) const DAWRX0: u16 = 188;
    pub(crate) const HFSCR: u16 = 190;
    pub(crate) const VRSAVE: u16 = 256;
    pub(crate) const TB: u16 = 268;
    pub(crate) const SPRG0: u16 = 272;
    pub(crate) const SPRG1: u16 = 273;
    pub(crate) const SPRG2: u16 = 274;
    pub(crate) const SPRG3: u16 = 275;
    pub(crate) const PVR: u16 = 287;
    pub(crate) const HSPRG0: u16 = 304;
    pub(crate) const HSPRG1: u16 = 305;
    pub(crate) const HDSISR: u16 = 306;
    pub(crate) const HDAR: u16 = 307;
    pub(crate) const SPURR: u16 = 308;
    pub(crate) const PURR: u16 = 309;
    pub(crate) const HDEC: u16 = 310;
    pub(crate) const HSRR0: u16 = 314;
    pub(crate) const HSRR1: u16 = 315;
    pub(crate) const LPCR: u16 = 318;
    pub(crate) const LPIDR: u16 = 319;
    pub(crate) const AMOR: u16 = 349;
    pub(crate) const PTCR: u16 = 464;
    pub(crate) const SIER: u16 = 784;
    pub(crate) const MMCR2: u16 = 785;
    pub(crate) const MMCRA: u16 = 786;
    pub(crate) const PMC1: u16 = 787;
    pub(crate) const PMC2: u16 = 788;
    pub(crate) const PMC3: u16 = 789;
    pub(crate) const PMC4: u16 = 790;
    pub(crate) const PMC5: u16 = 791;
    pub(crate) const PMC6: u16 = 792;
    pub(crate) const MMCR0: u16 = 795;
    pub(crate) const SIAR: u16 = 796;
    pub(crate) const SDAR: u16 = 797;
    pub(crate) const MMCR1: u16 = 798;
    pub(crate) const EBBHR: u16 = 804;
    pub(crate) const EBBRR: u16 = 805;
    pub(crate) const BESCR: u16 = 806;
    pub(crate) const TAR: u16 = 815;
    pub(crate) const ASDR: u16 = 816;
    pub(crate) const IC: u16 = 848;
    pub(crate) const VTB: u16 = 849;
    pub(crate) const PSSCR: u16 = 855;
    pub(crate) const TRIG2: u16 = 882;
    pub(crate) const WORT: u16 = 895;
    pub(crate) const PPR: u16 = 896;
    pub(crate) const PIR: u16 = 1023;
}

/// Reads a register. Reading has no effect on memory.
pub(crate) fn read<const NUMBER: u16>() -> u64 {
    let value;
    // SAFETY: mfspr of a register that POWER9 has; it changes nothing.
    unsafe { asm!("mfspr {}, {}", out(reg) value, const NUMBER, options(nomem, nostack)) };
    value
}

/// Writes a register.
///
/// # Safety
/// The value must keep what the running code relies on: translation, stacks, handlers.
pub(crate) unsafe fn write<const NUMBER: u16>(value: u64) {
    // SAFETY: the caller's promise.
    unsafe { asm!("mtspr {}, {}", const NUMBER, in(reg) value, options(nostack)) };
}

/// The entries of the segment lookaside buffer that a partition with radix translation can write: LPCR\[UPRT\]
/// is 1 then (Linux's `book3s_hv_p9_entry.c`).
const SEGMENTS: u64 = 4;

/// Forgets what a partition may have left in the segment lookaside buffer, cached translations apart.
pub(super) fn clear_segments() {
    for index in 0..SEGMENTS {
        // SAFETY: with radix translation nothing looks into the buffer.
        unsafe { asm!("slbmte {}, {}", in(reg) 0, in(reg) index, options(nostack)) };
    }
}

/// Orders earlier stores to translation tables before what follows.
pub(crate) fn ptesync() {
    // SAFETY: a barrier.
    unsafe { asm!("ptesync", options(nostack)) };
}

/// Discards prefetched instructions and makes earlier SPR changes take effect.
pub(crate) fn isync() {
    // SAFETY: a barrier.
    unsafe { asm!("isync", options(nostack)) };
}

/// What a broadcast invalidation covers.
#[derive(Clone, Copy)]
pub(crate) enum Scope {
    /// Everything of every partition and of the hypervisor.
    All,
    /// The hypervisor's own translations: LPID 0, PID 0. Translations only, no cached table entries.
    Host,
    /// Everything of one partition, both stages.
    Partition(u32),
}

const IS_PID: u64 = 0x400;
const IS_LPID: u64 = 0x800;
const IS_ALL: u64 = 0xC00;

const RIC_TLB: u32 = 0;
const RIC_ALL: u32 = 2;
const PARTITION_SCOPED: u32 = 0;
const PROCESS_SCOPED: u32 = 1;

const TLBIE: u32 = 306;
const TLBIEL: u32 = 274;

/// `tlbie RB=r4, RS=r3` or `tlbiel`, with radix set.
const fn invalidation(opcode: u32, ric: u32, prs: u32) -> u32 {
    31 << 26 | 3 << 21 | ric << 18 | prs << 17 | 1 << 16 | 4 << 11 | opcode << 1
}

const fn tlbie_word(ric: u32, prs: u32) -> u32 {
    invalidation(TLBIE, ric, prs)
}

/// Congruence classes of POWER9's TLB with radix translation
/// (`docs/facts/power9-translation.md#congruence-classes`).
const CLASSES: u64 = 128;
/// The next congruence class in the operand of `tlbiel`, field 40:51.
const NEXT_CLASS: u64 = 1 << 12;

/// Makes this core forget the process-scoped translations of a partition, and the tables on the way to them.
/// LPIDR names the partition then.
pub(crate) fn invalidate_in_core(lpid: u32) {
    const ALL: u32 = invalidation(TLBIEL, RIC_ALL, PROCESS_SCOPED);
    const TLB: u32 = invalidation(TLBIEL, RIC_TLB, PROCESS_SCOPED);
    const SLBIA: u32 = 31 << 26 | 7 << 21 | 498 << 1; // IH=7: the ERATs' translations
    // Stores of another partition must not drain under this one's LPID.
    ptesync();
    // SAFETY: no guest runs on this thread, and whoever enters one sets the register again; quadrant 3, where
    // the hypervisor is, implies LPID 0.
    unsafe { write::<{ spr::LPIDR }>(u64::from(lpid)) };
    isync();
    take_back::<ALL>(IS_LPID, 0);
    (1..CLASSES).for_each(|class| take_back::<TLB>(IS_LPID + class * NEXT_CLASS, 0));
    // SAFETY: barriers, and no translation changes.
    unsafe { asm!("ptesync", ".long {}", "isync", const SLBIA, options(nostack)) };
}

/// AP of a page of 64 KiB in RB, field 56:58 (`docs/facts/translation.md#page-sizes`).
const AP_64K: u64 = 5 << 5;

/// Makes this core forget the translation of one page of 64 KiB in quadrant 0, of a PID of the LPID that LPIDR names.
/// `ptesync` comes before the first of these and behind the last.
pub(crate) fn invalidate_page_in_core(address: u64, pid: u32) {
    const PAGE: u32 = invalidation(TLBIEL, RIC_TLB, PROCESS_SCOPED);
    take_back::<PAGE>(address | AP_64K, u64::from(pid) << 32);
}

/// Makes this core forget the translations of the hypervisor's own, but for what quadrant 0 shows to other PIDs. LPIDR is 0
/// meanwhile. `ptesync` comes before this and behind it.
pub(crate) fn invalidate_host_in_core() {
    const TLB: u32 = invalidation(TLBIEL, RIC_TLB, PROCESS_SCOPED);
    (0..CLASSES).for_each(|class| take_back::<TLB>(IS_PID + class * NEXT_CLASS, 0));
}

/// `tlbie` or `tlbiel`.
fn take_back<const WORD: u32>(rb: u64, rs: u64) {
    // SAFETY: forgetting cached translations changes no translation.
    unsafe {
        asm!(".long {}", const WORD, in("r3") rs, in("r4") rb, options(nostack));
    }
}

/// Makes all threads forget cached translations, and waits until they have.
///
/// After the invalidation proper come the two that POWER9's errata ask for: one for LPID 0 or PID 0,
/// so that a thread that changes LPIDR or PIDR meanwhile keeps nothing, and a repetition behind a
/// `ptesync`, so that it is not done before earlier stores. `docs/facts/power9-translation.md#errata`.
pub(crate) fn invalidate(scope: Scope) {
    const PROCESS_ALL: u32 = tlbie_word(RIC_ALL, PROCESS_SCOPED);
    const PARTITION_ALL: u32 = tlbie_word(RIC_ALL, PARTITION_SCOPED);
    const PROCESS_TLB: u32 = tlbie_word(RIC_TLB, PROCESS_SCOPED);
    const PARTITION_TLB: u32 = tlbie_word(RIC_TLB, PARTITION_SCOPED);

    ptesync();
    match scope {
        Scope::All => {
            take_back::<PARTITION_ALL>(IS_ALL, 0);
            take_back::<PROCESS_ALL>(IS_ALL, 0);
            ptesync();
            take_back::<PROCESS_ALL>(IS_ALL, 0);
        }
        Scope::Host => {
            take_back::<PROCESS_TLB>(IS_PID, 0);
            ptesync();
            take_back::<PROCESS_TLB>(IS_PID, 0);
        }
        Scope::Partition(lpid) => {
            let lpid = u64::from(lpid);
            take_back::<PARTITION_ALL>(IS_LPID, lpid);
            take_back::<PROCESS_ALL>(IS_LPID, lpid);
            ptesync();
            take_back::<PARTITION_TLB>(IS_LPID, 0);
            ptesync();
            take_back::<PROCESS_ALL>(IS_LPID, lpid);
        }
    }
    await_invalidations();
}

/// Waits until all invalidations that this thread has begun, a guest's too, are done on all threads.
pub(super) fn await_invalidations() {
    // SAFETY: barriers.
    unsafe { asm!("eieio", "tlbsync", "ptesync", options(nostack)) };
}
