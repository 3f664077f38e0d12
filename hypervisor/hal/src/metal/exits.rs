//! The Rust end of the vectors: what `vectors.S` calls, on the stack of `hal_enter_guest`, with the
//! guest's r14-r31 still in the registers.

use arch::address::GuestRealAddress;
use arch::bundle::HashCallPolicy;
use arch::interrupt::Vector;
use arch::papr::Hypercall;
use arch::papr::status::{H_FUNCTION, H_SUCCESS};
use arch::registers::hfscr::{self, Facility};
use hypervisor_core::dispatch::{Private, Running};
use hypervisor_core::exit::{Action, Door, Exit, machine_check};
use hypervisor_core::hypercall::Answer;
use hypervisor_core::interrupts::handler::Context;
use hypervisor_core::life::outcome::Departure;
use hypervisor_core::partition::{hash, radix};

use super::machine::Machine;
use super::threads;
use crate::host_state::PROCESSOR;
use crate::host_state::per_cpu::per_cpu;
use crate::registers::{read, spr, write};

const REAL_DOOR: u64 = 1;
const HSRR: u64 = 2;

/// The vCPU that runs.
///
/// # Safety
/// Only from a handler that an exit called, and once in it.
unsafe fn running() -> &'static mut Running<'static, Machine> {
    // SAFETY: `enter_guest` has stored the pointer, is still running and does not use its borrow
    // until it is returned to.
    unsafe { &mut *(*per_cpu()).guest.cast::<Running<'static, Machine>>() }
}

/// r3 and r4 at the return to `vectors.S`.
#[repr(C)]
struct Answered {
    status: i64,
    what: What,
}

/// The first three are in the order of [`Private`], so that no table is needed that would not be in the cache.
#[repr(u64)]
enum What {
    NoOutputs = 0,
    Offer = 1,
    Departs = 2,
    Outputs = 3,
    /// Of a guest with a hashed page table: [`hal_hypercall`] answers it, and has its arguments from the record.
    Translated = 4,
}

/// A hypercall from the guest's kernel. Unknown numbers are answered here, without touching memory.
#[unsafe(no_mangle)]
extern "C" fn hal_hypercall(
    number: u64,
    a1: u64,
    a2: u64,
    a3: u64,
    a4: u64,
    a5: u64,
    a6: u64,
    a7: u64,
) -> Answered {
    let Some(call) = Hypercall::of_any_partition(number) else {
        return Answered { status: H_FUNCTION, what: What::NoOutputs };
    };
    // SAFETY: this is the hypercall's handler, and the vCPU is given up before another function asks for it.
    match unsafe { running() }.private_hypercall(call, a1) {
        Private::Answered => Answered { status: H_SUCCESS, what: What::NoOutputs },
        Private::Departs => Answered { status: H_SUCCESS, what: What::Departs },
        Private::Offered => Answered { status: H_SUCCESS, what: What::Offer },
        Private::GivesUp => give_up(),
        Private::OfPage => of_page(call, a1, a2, a3, a4, a5, a6, a7),
        Private::OfDevice => of_device(call, a1, a2, a3, a4),
        Private::OfPriority => of_priority(call, a1),
        Private::OfInterrupts => of_interrupts(call, a1, a2),
        Private::Shared => known(call, a1, a2, a3, a4, a5, a6, a7),
    }
}

/// A hypercall from the kernel of a guest with a hashed page table; the eighth argument is in the thread's `PerCpu`.
///
/// Relocation is off, and the image and the heap alone are where they are with it on: nothing that this calls opens a
/// window or uses one.
#[unsafe(no_mangle)]
extern "C" fn hal_hash_hypercall(
    number: u64,
    a1: u64,
    a2: u64,
    a3: u64,
    a4: u64,
    a5: u64,
    a6: u64,
    a7: u64,
) -> Answered {
    if let Some(call) = Hypercall::of_hash_table(number) {
        return of_table(call, a1, a2, a3, a4, a5, a6, a7);
    }
    let Some(call) = Hypercall::of_any_partition(number) else {
        return Answered { status: H_FUNCTION, what: What::NoOutputs };
    };
    // An entry of a device's window is a word of the heap. A list of new ones is in the partition's memory.
    if let Hypercall::PutTce | Hypercall::GetTce | Hypercall::StuffTce = call {
        return of_device(call, a1, a2, a3, a4);
    }
    // SAFETY: this is the hypercall's handler.
    let running = unsafe { running() };
    running.registers.gpr[3..11].copy_from_slice(&[number, a1, a2, a3, a4, a5, a6, a7]);
    Answered { status: H_SUCCESS, what: What::Translated }
}

/// The same of a vCPU whose calls of the table are not answered there: relocation is as the hypervisor has it, and
/// LPIDR and LPCR are the hypervisor's, where it has its own.
#[unsafe(no_mangle)]
extern "C" fn hal_hash_hypercall_elsewhere(
    number: u64,
    a1: u64,
    a2: u64,
    a3: u64,
    a4: u64,
    a5: u64,
    a6: u64,
    a7: u64,
) -> Answered {
    let Some(call) = Hypercall::of_hash_table(number) else {
        return hal_hypercall(number, a1, a2, a3, a4, a5, a6, a7);
    };
    // SAFETY: this is the hypercall's handler, the vectors have stored the argument, and the vCPU is given up before
    // another function asks for it.
    let (running, a8) = unsafe { (running(), (*per_cpu()).r11) };
    let arguments = [a1, a2, a3, a4, a5, a6, a7, a8];
    if running.system.policy.hash_calls == HashCallPolicy::Full {
        // SAFETY: as above.
        let ninth = unsafe { (*per_cpu()).r12 };
        let waits = running.hash_table().is_some_and(|table| match call {
            Hypercall::BlockRemove => {
                running.block_waits_for_pages(table, [a1, a2, a3, a4, a5, a6, a7, a8, ninth])
            }
            _ => running.waits_for_pages(table, call, &arguments),
        });
        if !waits {
            running.leaves_with(call, arguments, ninth);
        }
        // The status becomes r3 of the record, where the dispatcher looks for the number.
        return Answered { status: number as i64, what: What::Departs };
    }
    of_table(call, a1, a2, a3, a4, a5, a6, a7)
}

/// The call of the table.
#[inline(always)]
fn of_table(
    call: Hypercall,
    a1: u64,
    a2: u64,
    a3: u64,
    a4: u64,
    a5: u64,
    a6: u64,
    a7: u64,
) -> Answered {
    match call {
        Hypercall::BlockRemove => of_block(a1, a2, a3, a4, a5, a6, a7),
        _ => of_hash_table(call, a1, a2, a3, a4, a5, a6, a7),
    }
}

/// Not inlined, as [`known`]: H_BLOCK_REMOVE, which alone has nine arguments.
#[inline(never)]
extern "C" fn of_block(a1: u64, a2: u64, a3: u64, a4: u64, a5: u64, a6: u64, a7: u64) -> Answered {
    // SAFETY: this is the hypercall's handler, and the vectors have stored the arguments.
    let (running, a8, a9) = unsafe { (running(), (*per_cpu()).r11, (*per_cpu()).r12) };
    let arguments = [a1, a2, a3, a4, a5, a6, a7, a8, a9];
    let Some(table) = running.hash_table() else {
        return Answered { status: H_FUNCTION, what: What::NoOutputs };
    };
    if running.block_waits_for_pages(table, arguments) {
        return Answered { status: H_SUCCESS, what: What::Departs };
    }
    let (status, outputs) = running.remove_block(table, arguments);
    running.registers.gpr[4..12].copy_from_slice(&outputs);
    Answered { status, what: What::Outputs }
}

/// Not inlined, as [`known`].
#[inline(never)]
extern "C" fn of_hash_table(
    call: Hypercall,
    a1: u64,
    a2: u64,
    a3: u64,
    a4: u64,
    a5: u64,
    a6: u64,
    a7: u64,
) -> Answered {
    // SAFETY: this is the hypercall's handler, and the vectors have stored the argument.
    let (running, a8) = unsafe { (running(), (*per_cpu()).r11) };
    let arguments = [a1, a2, a3, a4, a5, a6, a7, a8];
    let Some(table) = running.hash_table() else {
        return Answered { status: H_FUNCTION, what: What::NoOutputs };
    };
    if running.waits_for_pages(table, call, &arguments) {
        return Answered { status: H_SUCCESS, what: What::Departs };
    }
    let (status, outputs) = running.hash_hypercall(table, call, arguments);
    running.registers.gpr[4..12].copy_from_slice(&outputs);
    Answered { status, what: What::Outputs }
}

/// Not inlined, as the two below: the handler calls nothing but in its last place, so an unknown number needs no stack.
#[inline(never)]
extern "C" fn give_up() -> Answered {
    // SAFETY: this is the hypercall's handler.
    let what = match unsafe { running() }.give_up() {
        Private::Departs => What::Departs,
        Private::Offered => What::Offer,
        _ => What::NoOutputs,
    };
    Answered { status: H_SUCCESS, what }
}

/// Not inlined, as [`give_up`].
#[inline(never)]
extern "C" fn of_priority(call: Hypercall, a1: u64) -> Answered {
    // SAFETY: this is the hypercall's handler.
    let what = match unsafe { running() }.set_priority(call, a1) {
        Private::Departs => What::Departs,
        _ => What::NoOutputs,
    };
    Answered { status: H_SUCCESS, what }
}

/// A vCPU gives up the processor, and its record has all that is not in a special-purpose register: 0 if it
/// goes on, and 1 if it leaves.
#[unsafe(no_mangle)]
extern "C" fn hal_offer() -> u64 {
    // SAFETY: this is the hypercall's handler.
    let running = unsafe { running() };
    if running.is_taken_back() {
        return 0;
    }
    running.departure = Some(Departure::ConferredToAll);
    1
}

/// Not inlined, as [`known`], so that no other call pays for it.
#[inline(never)]
extern "C" fn of_page(
    call: Hypercall,
    a1: u64,
    a2: u64,
    a3: u64,
    a4: u64,
    a5: u64,
    a6: u64,
    a7: u64,
) -> Answered {
    // SAFETY: this is the hypercall's handler, and the vCPU is given up before `known` asks for it.
    if unsafe { running() }.initialize_page(a1, a2, a3) {
        return Answered { status: H_SUCCESS, what: What::NoOutputs };
    }
    known(call, a1, a2, a3, a4, a5, a6, a7)
}

#[inline(never)]
extern "C" fn known(
    call: Hypercall,
    a1: u64,
    a2: u64,
    a3: u64,
    a4: u64,
    a5: u64,
    a6: u64,
    a7: u64,
) -> Answered {
    // SAFETY: this is the hypercall's handler.
    let running = unsafe { running() };
    let answer = running.hypercall(call, [a1, a2, a3, a4, a5, a6, a7]);
    answered(running, answer)
}

/// Not inlined, as [`known`].
#[inline(never)]
extern "C" fn of_device(call: Hypercall, a1: u64, a2: u64, a3: u64, a4: u64) -> Answered {
    // SAFETY: this is the hypercall's handler.
    let running = unsafe { running() };
    let answer = running.device_hypercall(call, [a1, a2, a3, a4]);
    answered(running, answer)
}

/// Not inlined, as [`known`].
#[inline(never)]
extern "C" fn of_interrupts(call: Hypercall, a1: u64, a2: u64) -> Answered {
    // SAFETY: this is the hypercall's handler.
    let running = unsafe { running() };
    let answer = running.interrupt_hypercall(call, [a1, a2]);
    answered(running, answer)
}

/// An answer as `vectors.S` takes it.
#[inline(always)]
fn answered(running: &mut Running<'_, Machine>, answer: Answer) -> Answered {
    match answer {
        Answer::Status(status) => Answered { status, what: What::NoOutputs },
        Answer::Outputs(status, outputs) => {
            running.registers.answer(outputs);
            Answered { status, what: What::Outputs }
        }
        Answer::Departs(status, outputs, departure) => {
            running.registers.answer(outputs);
            running.departure = Some(departure);
            Answered { status, what: What::Departs }
        }
    }
}

/// Where the guest stood, at an exit with HSRR0/1.
fn interrupted() -> Context {
    Context { pc: read::<{ spr::HSRR0 }>(), msr: read::<{ spr::HSRR1 }>() }
}

/// What the processor says of an exit's cause; where an access to data was, or a fetch, depends on the translation.
#[inline(always)]
fn cause(
    vector: Vector,
    data: impl FnOnce() -> GuestRealAddress,
    fetch: impl FnOnce() -> GuestRealAddress,
) -> Exit {
    match vector {
        Vector::HypervisorDataStorage => {
            Exit::DataStorage { status: read::<{ spr::HDSISR }>(), address: data() }
        }
        Vector::HypervisorInstructionStorage => {
            Exit::InstructionStorage { status: read::<{ spr::HSRR1 }>(), address: fetch() }
        }
        Vector::HypervisorEmulationAssistance => {
            let before = read::<{ spr::SRR0 }>();
            Exit::EmulationAssistance { interrupted: interrupted(), before }
        }
        Vector::HypervisorFacilityUnavailable => {
            let cause = hfscr::INTERRUPT_CAUSE.get(read::<{ spr::HFSCR }>());
            let facility = Facility::from_cause(cause);
            Exit::FacilityUnavailable { interrupted: interrupted(), facility }
        }
        other => Exit::Other(threads::meaning(other)),
    }
}

/// The same of a guest with a hashed page table, which always leaves.
#[unsafe(no_mangle)]
extern "C" fn hal_hash_exit(code: u64) {
    let offset = code & !(REAL_DOOR | HSRR);
    let vector = Vector::from_offset(offset).expect("vectors.S has known vectors only");
    #[cfg(feature = "power8")]
    if vector == Vector::HypervisorDecrementer {
        if super::core_registers::is_early() {
            return;
        }
        // At once: else a sibling that comes back first sets the decrementer to this thread's time, which has passed,
        // and all of the core comes out once more.
        super::core_registers::end_stay();
    }
    let exit = cause(
        vector,
        || hash::guest_real(read::<{ spr::HDAR }>()),
        || hash::guest_real(read::<{ spr::HSRR0 }>()),
    );
    // SAFETY: this is the exit's handler.
    let running = unsafe { running() };
    if carry_out(running, vector, Door::Real, exit) == 0 {
        running.departure = Some(Departure::Changed);
    }
}

/// Any other exit; 0 resumes the guest, 1 leaves it.
#[unsafe(no_mangle)]
extern "C" fn hal_exit(code: u64) -> u64 {
    let door = if code & REAL_DOOR == 0 { Door::Virtual } else { Door::Real };
    let offset = code & !(REAL_DOOR | HSRR);
    let vector = Vector::from_offset(offset).expect("vectors.S has known vectors only");
    let exit = cause(
        vector,
        || radix::guest_real(read::<{ spr::ASDR }>()),
        || radix::guest_real(read::<{ spr::ASDR }>()),
    );
    // SAFETY: this is the exit's handler.
    let running = unsafe { running() };
    carry_out(running, vector, door, exit)
}

/// Handles an exit; 0 resumes the guest, 1 leaves it.
#[inline(always)]
fn carry_out(running: &mut Running<'_, Machine>, vector: Vector, door: Door, exit: Exit) -> u64 {
    match running.exit(door, exit) {
        Action::Resume => 0,
        Action::Departs(departure) => {
            running.departure = Some(departure);
            1
        }
        Action::Pauses { next } => {
            running.departure = Some(Departure::Paused);
            // SAFETY: this exit has HSRR0/1, where the guest goes on when it enters again.
            unsafe { write::<{ spr::HSRR0 }>(next) };
            1
        }
        Action::Interrupt { to, srr0, srr1 } => {
            // SAFETY: these exits have HSRR0/1.
            unsafe { interrupt(to, srr0, srr1) };
            0
        }
        Action::MachineCheck => {
            let is_fetch = vector == Vector::HypervisorInstructionStorage;
            let interrupted = interrupted();
            let (to, status, cause) = machine_check(PROCESSOR, interrupted, is_fetch, running.lpcr);
            // SAFETY: DAR and DSISR are the guest's; storage exits have HSRR0/1.
            unsafe {
                if !is_fetch {
                    write::<{ spr::DAR }>(read::<{ spr::HDAR }>());
                    write::<{ spr::DSISR }>(cause);
                }
                interrupt(to, interrupted.pc, status);
            }
            0
        }
    }
}

/// Makes the guest go on at `to`, in the handler of an interrupt that saved `srr0` and `srr1`.
///
/// # Safety
/// Only at an exit with HSRR0/1, which returns through them; `to` has HV and PR clear.
unsafe fn interrupt(to: Context, srr0: u64, srr1: u64) {
    // SAFETY: the caller's promise.
    unsafe {
        write::<{ spr::SRR0 }>(srr0);
        write::<{ spr::SRR1 }>(srr1);
        write::<{ spr::HSRR0 }>(to.pc);
        write::<{ spr::HSRR1 }>(to.msr);
    }
}
