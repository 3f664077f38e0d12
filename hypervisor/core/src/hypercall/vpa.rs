//! H_REGISTER_VPA: what a vCPU shares with the hypervisor.

use arch::address::GuestRealAddress;
use arch::papr::area::{self, FUNCTION};
use arch::papr::status::{H_HARDWARE, H_PARAMETER, H_RESOURCE, H_SUCCESS};

use super::{Answer, refused};
use crate::guest_memory::AccessError;
use crate::hal::{HalError, Memory, Platform};
use crate::hypercall::Guest;
use crate::vcpu::vpa::{AREA_BYTES, LOG_ENTRY_BYTES, Log, SHADOW_BYTES, is_area, is_place};

#[inline(never)]
pub(super) fn register<H: Memory + Platform>(
    guest: &mut Guest<'_, H>,
    flags: u64,
    server: u64,
    address: u64,
) -> Answer {
    let address = GuestRealAddress(address);
    let Some(vcpu) = guest.partition.vcpu_mut(server) else {
        return Answer::Status(H_PARAMETER);
    };
    let vpa = &mut vcpu.vpa;
    let status = match FUNCTION.get(flags) {
        area::DEREGISTER_AREA if vpa.log.is_some() || vpa.shadow.is_some() => H_RESOURCE,
        area::DEREGISTER_AREA => {
            vpa.clear_area();
            H_SUCCESS
        }
        area::DEREGISTER_LOG => {
            vpa.log = None;
            H_SUCCESS
        }
        area::DEREGISTER_SHADOW => {
            vpa.shadow = None;
            H_SUCCESS
        }
        area::REGISTER_AREA | area::REGISTER_LOG | area::REGISTER_SHADOW if address.0 == 0 => {
            H_HARDWARE
        }
        area::REGISTER_AREA => return done(register_area(guest, server, address)),
        area::REGISTER_LOG | area::REGISTER_SHADOW if !vpa.has_area() => H_RESOURCE,
        area::REGISTER_LOG => return done(register_log(guest, server, address)),
        area::REGISTER_SHADOW => return done(register_shadow(guest, server, address)),
        _ => H_PARAMETER,
    };
    Answer::Status(status)
}

/// The answer to a registration that was made, or was refused with one.
fn done(registered: Result<(), Answer>) -> Answer {
    registered.err().unwrap_or(Answer::Status(H_SUCCESS))
}

/// The big-endian length that an area has at offset 4, of `N` bytes.
fn length<const N: usize, H: Memory + Platform>(
    guest: &mut Guest<'_, H>,
    address: GuestRealAddress,
) -> Result<u64, Answer> {
    let mut bytes = [0; N];
    guest.partition.memory.read(guest.hal, address.wrapping_add(4), &mut bytes).map_err(refused)?;
    Ok(bytes.iter().fold(0, |sum, byte| sum << 8 | u64::from(*byte)))
}

fn register_area<H: Memory + Platform>(
    guest: &mut Guest<'_, H>,
    server: u64,
    address: GuestRealAddress,
) -> Result<(), Answer> {
    let bytes = length::<2, H>(guest, address)?;
    if !is_area(address, bytes) {
        return Err(Answer::Status(H_PARAMETER));
    }
    let real = guest.partition.memory.filled(guest.hal, address, AREA_BYTES);
    let real = real.map_err(refused)?;
    let Some(vcpu) = guest.partition.vcpu_mut(server) else {
        return Err(Answer::Status(H_PARAMETER));
    };
    vcpu.vpa.clear_area();
    let window = match guest.hal.pin_window(vcpu.id, real, AREA_BYTES) {
        Err(HalError::OutOfTables) => return Err(Answer::Status(H_RESOURCE)),
        window => window.map_err(|error| refused(AccessError::Hypervisor(error)))?,
    };
    let runs = vcpu.is_running();
    vcpu.vpa.set_area(address, window, runs);
    Ok(())
}

fn register_log<H: Memory + Platform>(
    guest: &mut Guest<'_, H>,
    server: u64,
    address: GuestRealAddress,
) -> Result<(), Answer> {
    let bytes = length::<4, H>(guest, address)?;
    let entries = bytes / LOG_ENTRY_BYTES;
    if entries == 0 || guest.partition.memory.real(address, bytes).is_none() {
        return Err(Answer::Status(H_PARAMETER));
    }
    if let Some(vcpu) = guest.partition.vcpu_mut(server) {
        vcpu.vpa.log = Some(Log { address, entries, next: 0 });
    }
    Ok(())
}

fn register_shadow<H: Memory + Platform>(
    guest: &mut Guest<'_, H>,
    server: u64,
    address: GuestRealAddress,
) -> Result<(), Answer> {
    let bytes = length::<4, H>(guest, address)?;
    if bytes < SHADOW_BYTES || !is_place(address, bytes) {
        return Err(Answer::Status(H_PARAMETER));
    }
    if let Some(vcpu) = guest.partition.vcpu_mut(server) {
        vcpu.vpa.shadow = Some(address);
    }
    Ok(())
}
