//! What each hardware thread has for itself: its [`PerCpu`], always in HSPRG0 and in r13 while the hypervisor runs.
//!
//! They lie in the image, so the vectors reach it with translation off at the same address.

use core::arch::asm;
use core::ffi::c_void;

use arch::bundle::HashCallPolicy;
use arch::registers::msr;
use hypervisor_core::facilities;
use hypervisor_core::vcpu::registers::Registers;

use super::{HOST_LPCR, HOST_MSR};
use crate::single::Single;

/// Hardware threads that there is room for: each has a [`PerCpu`] in the image.
pub(crate) const THREADS_MAX: usize = 64;

/// What the assembly keeps.
#[repr(C)]
pub(crate) struct PerCpu {
    /// r1 of `hal_enter_guest`: the stack of the exits' handlers.
    pub(crate) stack: u64,
    /// r2 of the hypervisor.
    pub(crate) toc: u64,
    /// [`HOST_MSR`].
    pub(crate) host_msr: u64,
    /// Where the real door's hypercall goes on at 0xC000....
    pub(crate) hypercall_entry: unsafe extern "C" fn(),
    /// Where the real door's other exits go on at 0xC000....
    pub(crate) exit_entry: unsafe extern "C" fn(),
    /// MSR bits that a hypercall may not come with.
    pub(crate) not_a_guest_kernel: u64,
    /// The vCPU that runs.
    pub(crate) vcpu: *mut Registers,
    /// The same with all that it needs, a `Running`; null between.
    pub(crate) guest: *mut c_void,
    /// What all threads share, a `System`, once a guest was entered.
    pub(crate) system: *const c_void,
    /// Its region of windows, a `MapRegion`.
    pub(crate) region: *mut c_void,
    /// Hypercalls by door, since the guest was entered.
    pub(crate) hypercalls: [u64; 2],
    /// OPAL's base, its r2.
    pub(crate) opal_base: u64,
    /// OPAL's entry.
    pub(crate) opal_entry: u64,
    /// The guest's r1 during a hypercall.
    pub(crate) guest_r1: u64,
    /// The guest's r2 during a hypercall.
    pub(crate) guest_r2: u64,
    /// The guest's LR during a hypercall.
    pub(crate) guest_lr: u64,
    /// The guest's r13 during a hypercall.
    pub(crate) guest_r13: u64,
    /// Of the interrupted, in the first instructions of an exit.
    pub(crate) r10: u64,
    /// As `r10`.
    pub(crate) r11: u64,
    /// As `r10`.
    pub(crate) r12: u64,
    /// As `r10`, at the real door.
    pub(crate) ctr: u64,
    /// As `r10`: CFAR.
    pub(crate) cfar: u64,
    /// Which thread this is, as [`per_cpu_of`] counts.
    pub(crate) index: usize,
    /// LPCR, as it was written last: a read behind other writes waits for them.
    pub(crate) lpcr: u64,
    /// HFSCR, the same, without the cause of an interrupt.
    pub(crate) hfscr: u64,
    /// What is known of a guest's registers in the processor, a `Saved` of `residents.rs`.
    pub(crate) residents: *mut c_void,
    /// The code of the exit that is being handled.
    pub(crate) code: u64,
    /// The hypervisor's registers when it was interrupted.
    pub(crate) crash_gpr: [u64; 32],
    /// As `crash_gpr`.
    pub(crate) crash_lr: u64,
    /// As `crash_gpr`.
    pub(crate) crash_ctr: u64,
    /// As `crash_gpr`.
    pub(crate) crash_cr: u64,
    /// [`HOST_MSR`] with relocation off.
    pub(crate) real_msr: u64,
    /// LPCR of the hypervisor while a partition with a hashed page table has left.
    pub(crate) own_lpcr: u64,
    /// LPCR of that partition.
    pub(crate) guest_lpcr: u64,
    /// Its number.
    pub(crate) guest_lpid: u64,
    /// r1 while this thread naps, or 0.
    #[cfg(feature = "power8")]
    pub(crate) nap_stack: u64,
}

unsafe extern "C" {
    fn hal_hypercall_real();
    fn hal_exit_real_high();
    fn hal_hypercall_hash();
    fn hal_hypercall_hash_elsewhere();
    fn hal_exit_hash_high();
}

/// Where exits at the real door go on.
pub(crate) struct Doors {
    hypercall: unsafe extern "C" fn(),
    exit: unsafe extern "C" fn(),
}

impl Doors {
    /// Of a partition with radix translation, and where no partition runs.
    pub(crate) const RADIX: Self = Self { hypercall: hal_hypercall_real, exit: hal_exit_real_high };
    /// Of one with a hashed page table, whose calls of it are answered as this says.
    pub(crate) const fn of_hash(calls: HashCallPolicy) -> Self {
        let hypercall = match calls {
            HashCallPolicy::Fast => hal_hypercall_hash,
            HashCallPolicy::Middle | HashCallPolicy::Full => hal_hypercall_hash_elsewhere,
        };
        Self { hypercall, exit: hal_exit_hash_high }
    }

    /// Makes this thread's exits go there.
    ///
    /// # Safety
    /// Only while no guest runs on this thread, for the one that is entered next.
    pub(crate) unsafe fn set(self) {
        let cpu = per_cpu();
        // SAFETY: this thread's; the vectors read it at exits alone.
        unsafe {
            (*cpu).hypercall_entry = self.hypercall;
            (*cpu).exit_entry = self.exit;
        }
    }
}

/// By index of the thread; the boot thread is 0.
#[unsafe(export_name = "hal_per_cpu")]
static PER_CPU: Single<[PerCpu; THREADS_MAX]> = Single::new([const { NEW }; THREADS_MAX]);

const NEW: PerCpu = PerCpu {
    stack: 0,
    toc: 0,
    host_msr: HOST_MSR,
    hypercall_entry: hal_hypercall_real,
    exit_entry: hal_exit_real_high,
    not_a_guest_kernel: msr::HV | msr::PR,
    vcpu: core::ptr::null_mut(),
    guest: core::ptr::null_mut(),
    system: core::ptr::null(),
    region: core::ptr::null_mut(),
    hypercalls: [0; 2],
    opal_base: 0,
    opal_entry: 0,
    guest_r1: 0,
    guest_r2: 0,
    guest_lr: 0,
    guest_r13: 0,
    r10: 0,
    r11: 0,
    r12: 0,
    ctr: 0,
    cfar: 0,
    index: 0,
    lpcr: HOST_LPCR,
    hfscr: facilities::NOTHING,
    residents: core::ptr::null_mut(),
    code: 0,
    crash_gpr: [0; 32],
    crash_lr: 0,
    crash_ctr: 0,
    crash_cr: 0,
    real_msr: HOST_MSR & !(msr::IR | msr::DR),
    own_lpcr: 0,
    guest_lpcr: 0,
    guest_lpid: 0,
    #[cfg(feature = "power8")]
    nap_stack: 0,
};

/// What this thread has. Dereferencing it is right for one field at a time: the vectors write
/// other fields at any interrupt.
pub(crate) fn per_cpu() -> *mut PerCpu {
    let cpu;
    // SAFETY: the vectors and `boot.S` set r13, which the compiler leaves alone, as no thread-local data is there.
    // It is the same for good.
    unsafe { asm!("mr {}, 13", out(reg) cpu, options(pure, nomem, nostack, preserves_flags)) };
    cpu
}

/// The index of this thread.
pub(crate) fn own_index() -> usize {
    // SAFETY: its own; written before the thread was fetched.
    unsafe { (*per_cpu()).index }
}

/// What the thread with this index has.
pub(crate) fn per_cpu_of(index: usize) -> *mut PerCpu {
    assert!(index < THREADS_MAX, "no such thread index");
    // SAFETY: within the array.
    unsafe { PER_CPU.get().cast::<PerCpu>().add(index) }
}
