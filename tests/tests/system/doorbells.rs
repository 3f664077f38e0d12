//! Privileged doorbells of a partition's kernel: on POWER8 the processor's, on POWER9 the hypervisor's. QEMU 7.2 cannot
//! judge: it lets `msgsndp` through, and ends at the interrupt (`docs/caveats/qemu.md`).

use system_tests::containment::{on_threads, watched};
use system_tests::{on_each, system_of};

const KEPT: &str =
    "misbehave: 300 of 300 doorbells kept, 1 taken; left false, rung true, cleared true";

/// A partition that rings itself, on a machine and with a policy, beside `others`.
fn rings(machine: &str, registers: &str, more: &str, arguments: &str, others: &str) -> String {
    format!(
        "slice_us = 20\npolicy = {{ registers = \"{registers}\" }}\n[[partition]]\nname = \"rings\"\n\
         payload = \"misbehave\"\nmemory = \"16 MiB\"\nvcpus = 1\narguments = \"mode=own-doorbell{arguments}\"\n\
         {more}{others}[machine]\ndescription = \"{machine}\"\n"
    )
}

const BUSY: &str = "[[partition]]\nname = \"busy\"\npayload = \"storm\"\nmemory = \"8128 KiB\"\nvcpus = 3\n\
                    arguments = \"rounds=40\"\n";

/// A vCPU that gives up the processor finds the privileged doorbell that it has rung for itself, on whatever thread it
/// goes on: at once, or behind others. With interrupts on it takes it once.
#[test]
fn a_doorbell_waits_for_its_vcpu() {
    const HASH: &str = "translation = \"hash\"\n";
    const ON: &str = " translated=yes";
    let mut all = Vec::new();
    for registers in ["owned", "released"] {
        for (topology, others) in
            [([1, 1, 1], ""), ([1, 1, 1], BUSY), ([1, 2, 2], ""), ([1, 2, 2], BUSY)]
        {
            all.push((rings("power8", registers, "", "", others), topology));
            for (more, arguments) in [("", ""), ("", ON), (HASH, ""), (HASH, ON)] {
                all.push((rings("power9", registers, more, arguments, others), topology));
            }
        }
    }
    on_each(all, |(text, topology)| {
        let (transcript, findings) = watched(&on_threads(system_of(&text), topology));
        let console = transcript.lines().join("\n");
        assert_eq!(findings, [""; 0], "{text} {topology:?}: {console}");
        assert!(console.contains(KEPT), "{text} {topology:?}: {console}");
    });
}
