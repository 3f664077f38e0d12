//! What a debugger goes by that looks into the hypervisor's memory: [`arch::vcpus`].
//!
//! The compiler makes the table, which lies behind all else in the image. So nobody has to write it, and
//! nothing that runs changes by it.

use alloc::vec::Vec;
use core::mem::{ManuallyDrop, offset_of, transmute};

use arch::vcpus::{Places, Table};
use hypervisor_core::facilities::DEMANDED;
use hypervisor_core::partition::Partition;
use hypervisor_core::sync::{DATA, Lock};
use hypervisor_core::system::System;
use hypervisor_core::vcpu::Vcpu;
use hypervisor_core::vcpu::registers::ALL;

use super::Machine;
use crate::host_state::per_cpu::PerCpu;

/// Where a list has its address and its length. The language leaves that open; so the compiler is asked.
const LIST: [u64; 2] = {
    // SAFETY: a list has three words. Any of these is an address that bytes can have, and as much room as there
    // can be; nobody looks for what would be there, and it is not dropped.
    let list: ManuallyDrop<Vec<u8>> = unsafe { transmute([1_usize, 2, 3]) };
    // SAFETY: a `ManuallyDrop` is what is in it.
    let list: &Vec<u8> = unsafe { &*(&raw const list).cast() };
    let (room, length) = (list.capacity() as u64, list.len() as u64);
    [8 * (6 - room - length - 1), 8 * (length - 1)]
};

/// The table's type.
pub(super) type Vcpus = Table<{ ALL.len() }, { DEMANDED.len() }>;

/// The table, for a section of its own.
pub(super) const TABLE: Vcpus = {
    let [registers, demanded, activity, residence] = Vcpu::<Machine>::PLACES;
    let places = Places {
        per_cpu_bytes: size_of::<PerCpu>() as u64,
        per_cpu_system: offset_of!(PerCpu, system) as u64,
        list_address: LIST[0],
        list_length: LIST[1],
        system_partitions: System::<'static, Machine>::PARTITIONS as u64,
        partition_bytes: size_of::<Lock<Partition<Machine>>>() as u64,
        partition_lpid: (DATA + offset_of!(Partition<Machine>, lpid)) as u64,
        partition_vcpus: (DATA + offset_of!(Partition<Machine>, vcpus)) as u64,
        vcpu_bytes: size_of::<Vcpu<Machine>>() as u64,
        vcpu_registers: registers as u64,
        vcpu_demanded: demanded as u64,
        vcpu_activity: activity as u64,
        vcpu_residence: residence as u64,
    };
    Table::new(places, ALL, DEMANDED)
};
