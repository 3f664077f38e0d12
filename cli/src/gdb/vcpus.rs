//! `monitor vcpus` and `monitor registers`: the vCPUs as the hypervisor has them, also those that no hardware
//! thread runs.

use std::fmt::Write as _;

use arch::registers::spr::Spr;
use lab::vcpus::{Activity, Layout, Vcpu};
use simulator::Machine;

use super::Surroundings;

/// How many hexadecimal digits each byte has.
const DIGITS: usize = 2;
/// Registers in a line, of 64 bits.
const LINE: usize = 3;

/// All vCPUs, or why they are not known.
fn all(machine: &Machine, layout: Option<&Layout>) -> Result<Vec<Vcpu>, String> {
    let layout = layout.ok_or("no hypervisor runs that this command knows")?;
    let vcpus = layout.vcpus(machine)?;
    if vcpus.is_empty() { Err("no partition has run yet".to_owned()) } else { Ok(vcpus) }
}

/// A line for each vCPU.
pub(super) fn list(
    machine: &Machine,
    layout: Option<&Layout>,
    surroundings: &dyn Surroundings,
) -> Result<String, String> {
    let mut text = String::new();
    for vcpu in all(machine, layout)? {
        let name = surroundings.partition(vcpu.lpid).unwrap_or("?");
        let what = match vcpu.activity {
            Activity::Stopped => "stopped".to_owned(),
            Activity::Ready => "ready".to_owned(),
            Activity::Running(thread) => running(machine, thread),
            Activity::Ceded => "ceded".to_owned(),
            Activity::AwaitsProd => "awaits H_PROD".to_owned(),
            Activity::Paused => "paused in a stop".to_owned(),
        };
        // A String takes all that is written.
        let _ = write!(text, "partition {name}, vCPU {}: {what}", vcpu.number);
        let registers = layout.and_then(|layout| layout.registers(machine, &vcpu).ok());
        let pc = registers.and_then(|all| all.into_iter().find(|(name, ..)| name == "pc"));
        match pc {
            Some((_, pc, _)) => {
                let _ = write!(text, ", on no thread, pc {pc:#x}");
            }
            None if matches!(vcpu.activity, Activity::Running(_)) => {}
            None => text.push_str(&kept(&vcpu)),
        }
        text.push('\n');
    }
    Ok(text)
}

fn running(machine: &Machine, thread: usize) -> String {
    let at = &machine.state().threads[thread];
    if at.is_hypervisor() {
        format!("in the hypervisor on thread {}", thread + 1)
    } else {
        format!("runs on thread {}, pc {:#x}", thread + 1, at.nia)
    }
}

/// Where the registers of a vCPU are that does not run, and whose record is not whole.
fn kept(vcpu: &Vcpu) -> String {
    vcpu.keeper().map_or_else(
        || ", its registers are on their way".to_owned(),
        |thread| format!(", thread {} still has its registers", thread + 1),
    )
}

/// The registers of a vCPU that is on no hardware thread.
pub(super) fn registers(
    machine: &Machine,
    layout: Option<&Layout>,
    lpid: u32,
    number: &str,
) -> Result<String, String> {
    let vcpus = all(machine, layout)?;
    let of_partition: Vec<&Vcpu> = vcpus.iter().filter(|vcpu| vcpu.lpid == lpid).collect();
    let wanted = number.parse().ok();
    let Some(vcpu) = of_partition.iter().find(|vcpu| Some(vcpu.number) == wanted) else {
        let last = of_partition.len().saturating_sub(1);
        return Err(format!("there is no vCPU `{number}`; the partition has 0 to {last}"));
    };
    if let Activity::Running(thread) = vcpu.activity {
        let gdbs = thread + 1;
        return Err(if machine.state().threads[thread].is_hypervisor() {
            format!(
                "the hypervisor works for it on thread {gdbs}, and its registers are partly there; let it leave"
            )
        } else {
            format!("it runs: `thread {gdbs}` and `info registers`")
        });
    }
    let known = layout.and_then(|layout| layout.registers(machine, vcpu).ok());
    let known = known.ok_or_else(|| format!("it is on no thread{}", kept(vcpu)))?;
    let mut text = String::new();
    let mut column = 0;
    for (name, value, bytes) in known {
        let digits = bytes as usize * DIGITS;
        let is_last = bytes > 8 || column + 1 == LINE;
        if bytes > 8 && column > 0 {
            text.push('\n');
        }
        let _ = write!(text, "{name:<20}0x{value:0digits$x}");
        text.push_str(if is_last { "\n" } else { "  " });
        column = if is_last { 0 } else { column + 1 };
    }
    if column > 0 {
        text.push('\n');
    }
    Ok(text)
}

/// Which vCPU a hardware thread runs, or works for.
pub(super) fn on_thread(machine: &Machine, layout: Option<&Layout>, thread: usize) -> Option<Vcpu> {
    let at = machine.state().threads.get(thread)?;
    let vcpus = layout?.vcpus(machine).ok()?;
    let mut running = vcpus.into_iter().filter(|vcpu| vcpu.activity == Activity::Running(thread));
    // In a guest the processor says itself whose.
    running.find(|vcpu| at.is_hypervisor() || u64::from(vcpu.lpid) == at.spr(Spr::Lpidr))
}
