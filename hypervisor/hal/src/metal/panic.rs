//! When the hypervisor itself fails: a readable report, then power-off.

use core::fmt::{self, Write};
use core::panic::PanicInfo;

use arch::interrupt::Vector;
use hypervisor_core::console::PREFIX;
use hypervisor_core::sync::{First, Place};

use super::opal;
use crate::host_state::per_cpu::per_cpu;
use crate::registers::{read, spr};

struct Console;

impl Write for Console {
    fn write_str(&mut self, text: &str) -> fmt::Result {
        opal::console_write_failing(text.as_bytes());
        Ok(())
    }
}

/// Writes to the console without any allocation.
pub(super) fn line(text: fmt::Arguments<'_>) {
    // The console's Write does not fail.
    let _ = writeln!(Console, "{PREFIX}{text}");
}

/// The thread whose failure is reported, by its [`PerCpu`](crate::host_state::per_cpu::PerCpu).
static FAILING: First = First::nobody();

/// Begins the one report: a failure during a report must not report again, and those of other threads wait
/// for the machine to be switched off.
fn only_once() {
    match FAILING.come(per_cpu() as u64) {
        Place::First => {}
        Place::Again => opal::power_off(),
        Place::Later => loop {
            pause::pause();
        },
    }
}

#[panic_handler]
fn panic(info: &PanicInfo<'_>) -> ! {
    only_once();
    line(format_args!("panic: {}", info.message()));
    if let Some(location) = info.location() {
        line(format_args!("panic: at {location}"));
    }
    opal::power_off()
}

/// An interrupt out of the hypervisor, from `vectors.S`: there is none that it handles.
#[unsafe(no_mangle)]
extern "C" fn hal_host_interrupted(code: u64) -> ! {
    let (pc, msr) = if code & 2 == 0 {
        (read::<{ spr::SRR0 }>(), read::<{ spr::SRR1 }>())
    } else {
        (read::<{ spr::HSRR0 }>(), read::<{ spr::HSRR1 }>())
    };
    let (dar, dsisr) = (read::<{ spr::DAR }>(), read::<{ spr::DSISR }>());
    let (hdar, hdsisr) = (read::<{ spr::HDAR }>(), read::<{ spr::HDSISR }>());
    only_once();
    let offset = code & !3;
    let name = Vector::from_offset(offset).map_or("unknown", Vector::name);
    line(format_args!("panic: {name} interrupt ({offset:#x}) in the hypervisor"));
    line(format_args!("panic: pc {pc:016x} msr {msr:016x}"));
    line(format_args!(
        "panic: dar {dar:016x} dsisr {dsisr:08x} hdar {hdar:016x} hdsisr {hdsisr:08x}"
    ));
    // SAFETY: the vectors have filled the record and nothing fills it again.
    let (gpr, lr, ctr, cr) = unsafe {
        let cpu = per_cpu();
        ((*cpu).crash_gpr, (*cpu).crash_lr, (*cpu).crash_ctr, (*cpu).crash_cr)
    };
    line(format_args!("panic: lr {lr:016x} ctr {ctr:016x} cr {cr:08x}"));
    for (index, quad) in gpr.chunks_exact(4).enumerate() {
        let [a, b, c, d] = [quad[0], quad[1], quad[2], quad[3]];
        line(format_args!("panic: r{:<2} {a:016x} {b:016x} {c:016x} {d:016x}", 4 * index));
    }
    opal::power_off()
}
