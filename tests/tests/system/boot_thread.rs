//! Firmware may enter the hypervisor on any thread of any core; the others wait inside OPAL.

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

#[test]
fn the_hypervisor_boots_on_any_thread() {
    let (_, system) = systems("examples/hello.toml").remove(0);
    let boot = Boot { kernel: system.kernel, initrd: system.initrd, arguments: String::new() };
    for thread in [0, 3, 4, 7] {
        let mut machine = machine(thread);
        machine.boot(&boot).expect("the images can be booted");
        let end = machine.run(1 << 30, &mut NoObserver);
        let console = String::from_utf8_lossy(&machine.take_console_output()).into_owned();
        assert!(matches!(end, RunState::PoweredOff), "thread {thread}: {end:?}\n{console}");
        assert!(console.contains(r#""outcome":"powered off""#), "thread {thread}:\n{console}");
        let threads = &machine.state().threads;
        assert!(threads[thread].completed > 10_000, "thread {thread} did the work");
    }
}
