//! Filling all registers, and seeing what they hold after an exit.

use core::arch::{asm, global_asm};
use core::mem::offset_of;
use core::sync::atomic::AtomicU64;

use arch::marker::{Mark, Region};

use crate::hash;

/// The region that [`call_and_begin`] begins and [`call_and_end`] ends.
pub const MARKED: Region = Region::new(1).expect("a region number");

/// What every register of a program holds.
#[derive(Clone, PartialEq, Eq, Debug)]
#[repr(C)]
pub struct Values {
    /// General-purpose registers.
    pub gpr: [u64; 32],
    /// Floating-point registers.
    pub fpr: [u64; 32],
    /// Condition register.
    pub cr: u64,
    /// Link register.
    pub lr: u64,
    /// Fixed-point exception register.
    pub xer: u64,
    /// Count register.
    pub ctr: u64,
    /// Floating-point status and control.
    pub fpscr: u64,
}

/// SO, OV, CA, OV32, CA32 and the string count.
const XER: u64 = 0xE00C_007F;

/// What the processor keeps of them: OV32 and CA32 came with ISA 3.0.
fn kept_of_xer() -> u64 {
    let kept;
    // SAFETY: the compiler relies on no bit of it here.
    unsafe {
        asm!("mtxer {0}", "mfxer {0}", inout(reg) XER => kept, out("xer") _, options(nomem, nostack))
    };
    kept
}

impl Values {
    /// Random values, as far as each register keeps them.
    #[must_use]
    pub fn random(mut next: impl FnMut() -> u64) -> Self {
        let xer = kept_of_xer();
        Self {
            gpr: core::array::from_fn(|_| next()),
            fpr: core::array::from_fn(|_| next()),
            cr: next() & 0xFFFF_FFFF,
            lr: next() & !3,
            xer: next() & xer,
            ctr: next(),
            // The rounding mode: other bits would ask for exceptions or follow from each other.
            fpscr: next() & 3,
        }
    }

    /// Prints what is not as in `expected`, in the name of the payload: whether anything is.
    #[must_use]
    pub fn differ(&self, expected: &Self, name: &str) -> bool {
        if self == expected {
            return false;
        }
        for number in 0..32 {
            let (expected, found) = (expected.gpr[number], self.gpr[number]);
            if expected != found {
                crate::println!("{name}: r{number} {found:#x}, not {expected:#x}");
            }
        }
        for number in 0..32 {
            let (expected, found) = (expected.fpr[number], self.fpr[number]);
            if expected != found {
                crate::println!("{name}: f{number} {found:#x}, not {expected:#x}");
            }
        }
        let others = |values: &Self| [values.cr, values.lr, values.xer, values.ctr, values.fpscr];
        if others(expected) != others(self) {
            crate::println!("{name}: {:x?}, not {:x?}", others(self), others(expected));
        }
        true
    }

    /// What PAPR and this hypervisor leave of these values in a hypercall that returns `status` and no
    /// outputs.
    #[must_use]
    pub fn after_call(&self, status: u64) -> Self {
        let mut after = self.clone();
        after.gpr[0] = 0;
        after.gpr[3] = status;
        after.gpr[4..13].fill(0);
        after.ctr = 0;
        after.xer = 0;
        after.cr &= CR_KEPT;
        after
    }
}

/// CR2, CR3 and CR4, which a hypercall keeps.
const CR_KEPT: u64 = 0x00FF_F000;

global_asm!(
    include_str!("registers.S"),
    MMCR0 = const 795,
    SPRG1 = const 273,
    SPRG2 = const 274,
    SPRG3 = const 275,
    SRR0 = const 26,
    SRR1 = const 27,
    GPR = const offset_of!(Values, gpr),
    FPR = const offset_of!(Values, fpr),
    CR = const offset_of!(Values, cr),
    LR = const offset_of!(Values, lr),
    XER = const offset_of!(Values, xer),
    CTR = const offset_of!(Values, ctr),
    FPSCR = const offset_of!(Values, fpscr),
    BEGIN = const Mark::Begin(MARKED).word().0,
    END = const Mark::End(MARKED).word().0,
);

unsafe extern "C" {
    fn rt_registers_spin(fill: *const Values, store: *mut Values, count: u64);
    fn rt_registers_load(fill: *const Values, store: *mut Values);
    fn rt_registers_illegal(fill: *const Values, store: *mut Values);
    fn rt_registers_facility(fill: *const Values, store: *mut Values);
    fn rt_registers_fetch(fill: *const Values, store: *mut Values);
    fn rt_registers_call(fill: *const Values, store: *mut Values);
    fn rt_registers_call_begin(fill: *const Values, store: *mut Values);
    fn rt_registers_call_end(fill: *const Values, store: *mut Values);
}

/// Fills all registers, CTR with `count`, and counts CTR down: what they hold then. Interrupts must be
/// off and floating point on
/// (`rt::floating_point::allow`).
#[must_use]
pub fn spin(fill: &Values, count: u64) -> Values {
    let mut store = fill.clone();
    // SAFETY: reads one record, writes the other; the registers of the ABI are restored.
    unsafe { rt_registers_spin(fill, &mut store, count) };
    store
}

/// Fills all registers and makes the hypercall that r3 asks for: what they hold then. As [`spin`]; the
/// call must not touch memory that the payload uses. If it allows interrupts, r1 must be a stack.
#[must_use]
pub fn call(fill: &Values) -> Values {
    let mut store = fill.clone();
    // SAFETY: as in `spin`.
    unsafe { rt_registers_call(fill, &mut store) };
    store
}

/// The same as [`call`], and directly before the call [`MARKED`] begins.
#[must_use]
pub fn call_and_begin(fill: &Values) -> Values {
    let mut store = fill.clone();
    // SAFETY: as in `call`.
    unsafe { rt_registers_call_begin(fill, &mut store) };
    store
}

/// The same as [`call`], and directly behind the call [`MARKED`] ends.
#[must_use]
pub fn call_and_end(fill: &Values) -> Values {
    let mut store = fill.clone();
    // SAFETY: as in `call`.
    unsafe { rt_registers_call_end(fill, &mut store) };
    store
}

/// Fills all registers and loads the doubleword at r4 into r4: what they hold then. As [`spin`]; the address
/// must be in the payload's free memory.
#[must_use]
pub fn load(fill: &Values) -> Values {
    let mut store = fill.clone();
    // SAFETY: as in `spin`; a load changes nothing.
    unsafe { rt_registers_load(fill, &mut store) };
    store
}

/// Fills all registers and executes an illegal instruction, behind which the handler of the program
/// interrupt has to go on: what they hold then. As [`spin`], but r1 must be a stack.
#[must_use]
pub fn execute_illegal(fill: &Values) -> Values {
    let mut store = fill.clone();
    // SAFETY: as in `spin`; interrupts save and restore what they use, below the r1 they find.
    unsafe { rt_registers_illegal(fill, &mut store) };
    store
}

/// Fills all registers and reads MMCR0 into r4: what they hold then. As [`execute_illegal`], if the facility is
/// withheld.
#[must_use]
pub fn read_withheld(fill: &Values) -> Values {
    let mut store = fill.clone();
    // SAFETY: as in `execute_illegal`; reading the register changes nothing.
    unsafe { rt_registers_facility(fill, &mut store) };
    store
}

/// Fills all registers and goes to the address in CTR, where an illegal instruction has to be, behind which
/// the handler of the program interrupt has to go on at LR: what they hold then. As [`execute_illegal`].
#[must_use]
pub fn fetch(fill: &Values) -> Values {
    let mut store = fill.clone();
    // SAFETY: as in `execute_illegal`.
    unsafe { rt_registers_fetch(fill, &mut store) };
    store
}

/// Leaves `value` where a partition can leave something that it does not need: in PSSCR, in the segment
/// lookaside buffer, and as a reservation of the doubleword at `reserved`. QEMU does not know the number of
/// PSSCR and may refuse the entry of the buffer, with a program interrupt.
pub fn leave_traces(value: u64, reserved: &AtomicU64) {
    const ESID: u64 = 0xFFFF_FFFF_F000_0000;
    const VSID: u64 = 0x7FFF_FFFF_FFFF_F000;
    let entry = if hash::is_used() {
        hash::spare_entry(value & ESID)
    } else {
        const ENTRIES: u64 = 4;
        value & ESID | value % ENTRIES
    };
    // SAFETY: with radix translation nothing looks into the buffer, and otherwise nothing looks for this entry. Only
    // the low bits of PSSCR can be set, which `stop` alone reads. A reservation is nothing to who does not store by
    // it.
    unsafe {
        asm!(
            "mtspr 823, {psscr}",
            "slbmte {vsid}, {esid}",
            "ldarx {psscr}, 0, {reserved}",
            psscr = inout(reg) value & 0x3FF => _,
            vsid = in(reg) value & VSID,
            esid = in(reg) entry,
            reserved = in(reg_nonzero) reserved.as_ptr(),
            options(nostack),
        );
    }
}

/// Leaves `value` in SPRG0 and SPRG3, which interrupts and the filling of registers use and do not restore; a
/// priority, 2 to 4, in PPR, and the run latch.
pub fn leave_kernel_traces(value: u64, priority: u64, latch: u64) {
    // SAFETY: the payload's own code keeps nothing there; a priority changes how fast it runs, and no more.
    unsafe {
        asm!(
            "mtspr 272, {value}",
            "mtspr 275, {value}",
            "mtspr 896, {priority}",
            "mtspr 152, {latch}",
            value = in(reg) value,
            priority = in(reg) priority << 50,
            latch = in(reg) latch,
            options(nostack),
        );
    }
}

/// Facilities that [`use_one`] knows.
pub const FACILITIES: u64 = 5;

/// Uses a facility that a hypervisor may withhold, and changes nothing: floating point, vectors, DSCR, TAR or
/// event-based branches, by `turn` modulo [`FACILITIES`]. The first two must be allowed.
#[inline(always)]
pub fn use_one(turn: u64) {
    // SAFETY: moves a register to itself in which the payload's own code keeps nothing, or reads one.
    unsafe {
        match turn % FACILITIES {
            0 => asm!("fmr 0, 0", options(nomem, nostack)),
            1 => asm!(".long {VOR}", VOR = const 0x1000_0484, options(nomem, nostack)),
            2 => asm!("mfspr {}, 17", out(reg) _, options(nomem, nostack)),
            3 => asm!("mfspr {}, 815", out(reg) _, options(nomem, nostack)),
            _ => asm!("mfspr {}, 804", out(reg) _, options(nomem, nostack)),
        }
    }
}

macro_rules! special {
    ($names:ident $set:ident $get:ident; $($(#[$doc:meta])* $number:literal $name:literal $mask:literal;)*) => {
        /// Names of the special-purpose registers that the function below fills, in its order.
        pub const $names: [&str; [$($number),*].len()] = [$($name),*];

        /// Fills special-purpose registers, each with the part of its value that it keeps: what they
        /// hold now.
        pub fn $set(values: [u64; $names.len()]) -> [u64; $names.len()] {
            let mut values = values.into_iter();
            $(
                let value: u64 = values.next().unwrap_or(0) & $mask;
                // SAFETY: none of these registers changes what the payload does with translation off.
                unsafe { asm!("mtspr {}, {}", const $number, in(reg) value, options(nostack)) };
            )*
            $get()
        }

        /// What the special-purpose registers hold; zero for one that the processor does not have.
        #[must_use]
        pub fn $get() -> [u64; $names.len()] {
            [$({
                let value: u64;
                // SAFETY: reads a register, or none: then the zero stays.
                unsafe {
                    asm!(
                        "mfspr {}, {}",
                        inout(reg) 0u64 => value,
                        const $number,
                        options(nomem, nostack)
                    );
                }
                value
            }),*]
        }
    };
}

// Key 0 of AMR and IAMR stays as it was: it is that of the payload's own pages, and counts for a kernel too with a
// hashed page table.
special! {
    SPECIAL set_special special;
    153 "FSCR" 0x104;       // DSCR and TAR; first, since it allows others
    17 "DSCR" 0x1FF_FFFF;
    18 "DSISR" 0xFFFF_FFFF;
    19 "DAR" 0xFFFF_FFFF_FFFF_FFFF;
    26 "SRR0" 0xFFFF_FFFF_FFFF_FFFC;
    27 "SRR1" 0xFFFF;
    29 "AMR" 0x3FFF_FFFF_FFFF_FFFF;
    48 "PIDR" 0xF_FFFF;
    61 "IAMR" 0x1555_5555_5555_5555;
    144 "TIDR" 0xFFFF;
    159 "PSPB" 0xFFFF_FFFF;
    157 "UAMOR" 0xFFFF_FFFF_FFFF_FFFF;
    256 "VRSAVE" 0xFFFF_FFFF;
    815 "TAR" 0xFFFF_FFFF_FFFF_FFFF;
}

// What an operating system's kernel changes all the time.
special! {
    KERNEL set_kernel kernel;
    272 "SPRG0" 0xFFFF_FFFF_FFFF_FFFF;
    273 "SPRG1" 0xFFFF_FFFF_FFFF_FFFF;
    274 "SPRG2" 0xFFFF_FFFF_FFFF_FFFF;
    275 "SPRG3" 0xFFFF_FFFF_FFFF_FFFF;
    18 "DSISR" 0xFFFF_FFFF;
    19 "DAR" 0xFFFF_FFFF_FFFF_FFFF;
    48 "PIDR" 0xF_FFFF;
}

// Event-based branches, which stay off: BESCR has no global enable.
special! {
    BRANCHES set_branches branches;
    804 "EBBHR" 0xFFFF_FFFF_FFFF_FFFC;
    805 "EBBRR" 0xFFFF_FFFF_FFFF_FFFC;
    806 "BESCR" 0x1_0000_0000;
}

// What the performance monitor keeps while its counters are frozen; SIAR also tells which instruction was traced.
special! {
    MONITOR set_monitor monitor;
    787 "PMC1" 0xFFFF_FFFF;
    788 "PMC2" 0xFFFF_FFFF;
    789 "PMC3" 0xFFFF_FFFF;
    790 "PMC4" 0xFFFF_FFFF;
    791 "PMC5" 0xFFFF_FFFF;
    792 "PMC6" 0xFFFF_FFFF;
    797 "SDAR" 0xFFFF_FFFF_FFFF_FFFF;
}
