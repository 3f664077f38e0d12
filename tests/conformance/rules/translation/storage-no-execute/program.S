#include "prologue.inc"
#include "radix.inc"
#include "vectors.inc"

# Bit 35 of SRR1 and HSRR1: no right to execute, or storage that is not idempotent. It is the fetch's alone.
.set NO_EXECUTE, 0x10000000

main:
    bl      setup_radix
    STORE   PID1_L4, (LEAF & ~1) | WINDOW
    STORE   PID1_L4 + 8, LEAF | WINDOW | 0x1000 | 2 << 4
    STORE   PID1_L4 + 16, PRIVILEGED_LEAF | WINDOW | 0x2000
    STORE   GUEST_L4 + 3 * 8, (LEAF & ~1) | WINDOW | 0x3000
    STORE   GUEST_L4 + 4 * 8, LEAF | WINDOW | 0x4000 | 2 << 4
    INVALIDATE_ALL
    TO_GUEST 1, WINDOW, GUEST_ON, 0x400, WINDOW, NO_EXECUTE
    DESCRIBED 1
    TO_GUEST 2, WINDOW, GUEST_ON | MSR_PR | MSR_EE, 0x400, WINDOW, NO_EXECUTE
    TO_GUEST 3, WINDOW + 0x1000, GUEST_ON, 0x400, WINDOW + 0x1000, NO_EXECUTE
    DESCRIBED 3
    # A privileged page in problem state.
    TO_GUEST 4, WINDOW + 0x2000, GUEST_ON | MSR_PR | MSR_EE, 0x400, WINDOW + 0x2000, NO_EXECUTE
    TO_HOST_BY_HSRR 5, WINDOW + 0x3000, GUEST_ON, 0xe20, WINDOW + 0x3000, NO_EXECUTE
    DESCRIBED 5, asdr=WINDOW + 0x3000
    TO_HOST_BY_HSRR 6, WINDOW + 0x3008, GUEST_REAL, 0xe20, WINDOW + 0x3008, NO_EXECUTE
    DESCRIBED 6, asdr=WINDOW + 0x3000
    TO_HOST_BY_HSRR 7, WINDOW + 0x4000, GUEST_ON, 0xe20, WINDOW + 0x4000, NO_EXECUTE
    # Loads are none of its business.
    SET     13, WINDOW + 0x3000
    IN_GUEST guest_load, GUEST_ON
    CHECK   8, 20, 0xc00
    PASS
