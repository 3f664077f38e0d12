//! Single instructions in states that a program of the comparison with QEMU never has: privileged
//! ones, and those of which QEMU's user mode shows too little.

mod decimal;
mod forms;
mod invalidation;
mod machine_state;
mod modelled;
mod monitor;
mod parts;
mod special_registers;
mod vector;
