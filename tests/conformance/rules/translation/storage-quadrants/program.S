#include "prologue.inc"
#include "radix.inc"
#include "vectors.inc"

# The hypervisor in real mode for instructions, with data in quadrant 1: the partition's PID 1.
.set DATA, MSR_SF | MSR_HV | MSR_ME | MSR_DR | MSR_RI
.set QUADRANT, 0x4000000000000000

main:
    bl      setup_radix
    STORE   PID1_L4 + 8, 0
    STORE   GUEST_L4 + 2 * 8, 0
    STORE   GUEST_L4 + 3 * 8, LEAF_READ_ONLY | WINDOW | 0x3000
    INVALIDATE_ALL
    # What the process does not map is a data storage interrupt of the hypervisor's ...
    SET     13, QUADRANT | (WINDOW + 0x1008)
    TO_HOST_BY_SRR 1, guest_load, DATA, 0x300, guest_load
    DESCRIBED 1, QUADRANT | (WINDOW + 0x1008), 0x40000000
    # ... what the partition does not a hypervisor's data storage interrupt, by HSRR0 and HSRR1.
    SET     13, QUADRANT | (WINDOW + 0x2010)
    TO_HOST_BY_HSRR 2, guest_load, DATA, 0xe00, guest_load
    DESCRIBED 2, hdar=QUADRANT | (WINDOW + 0x2010), hdsisr=0x40000000, asdr=WINDOW + 0x2000
    SET     13, QUADRANT | (WINDOW + 0x3018)
    TO_HOST_BY_HSRR 3, guest_store, DATA, 0xe00, guest_store
    DESCRIBED 3, hdar=QUADRANT | (WINDOW + 0x3018), hdsisr=0x0a000000, asdr=WINDOW + 0x3000
    # Quadrant 2 is the partition's PID 0, which has no tree.
    SET     13, 0x8000000000000000 | WINDOW
    TO_HOST_BY_SRR 4, guest_load, DATA, 0x300, guest_load
    DESCRIBED 4, 0x8000000000000000 | WINDOW, 0x00080000
    PASS
