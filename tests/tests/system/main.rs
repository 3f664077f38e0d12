//! The whole system: the hypervisor and its payloads on our machine, watched by the oracle.

mod accounts;
mod boot_thread;
mod compute;
mod containment;
mod disks;
mod external_interrupts;
mod fairness;
mod guest_stop;
mod handovers;
mod hash;
mod limits;
mod maps;
mod mitigations;
mod moves_can_fail;
mod oracle;
mod oracle_can_fail;
mod partition_start;
mod power8;
mod repeatability;
mod restarts;
mod superpages;
mod suspension;
mod switches;
mod threads;
mod timing;
mod two_machines;
