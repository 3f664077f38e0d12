//! Firmware may enter the hypervisor on any thread of any core; the others wait inside OPAL. Another program than
//! firmware may enter it with less in registers.

use simulator::state::thread::Thread;
use simulator::{Boot, Description, Machine, NoObserver, RunState};
use system_tests::systems;

/// A chip of two cores with four threads each, entered on this one.
fn machine(boot_thread: usize) -> Machine {
    let text = include_str!("../../../machines/power9.toml")
        .replace("cores_per_chip = 1", "cores_per_chip = 2")
        .replace("threads_per_core = 1", "threads_per_core = 4")
        .replace("boot_thread = 0", &format!("boot_thread = {boot_thread}"));
    Machine::new(Description::from_toml(&text).expect("the machine can be"), 1)
}

/// Boots an example to its end; `enter` changes what firmware has left before.
fn boot(mut machine: Machine, enter: fn(&mut Thread)) -> Machine {
    let (_, system) = systems("examples/hello.toml").remove(0);
    let boot = Boot { kernel: system.kernel, initrd: system.initrd, arguments: String::new() };
    machine.boot(&boot).expect("the images can be booted");
    enter(&mut machine.parts_mut().0[0]);
    let end = machine.run(1 << 30, &mut NoObserver);
    let console = String::from_utf8_lossy(&machine.take_console_output()).into_owned();
    assert!(matches!(end, RunState::PoweredOff), "{end:?}\n{console}");
    assert!(console.contains(r#""outcome":"powered off""#), "{console}");
    machine
}

#[test]
fn the_hypervisor_boots_on_any_thread() {
    for thread in [0, 3, 4, 7] {
        let machine = boot(machine(thread), |_| ());
        let threads = &machine.state().threads;
        assert!(threads[thread].completed > 10_000, "thread {thread} did the work");
    }
}

/// Petitboot's kexec-lite says nothing in r8 and r9, unlike skiboot and kexec-tools: the tree says where OPAL is.
#[test]
fn the_hypervisor_finds_opal_in_the_device_tree() {
    boot(machine(0), |thread| thread.gpr[8..10].fill(0x1230));
}
