#include "prologue.inc"
#include "radix.inc"
#include "vectors.inc"

.set REFERENCE_CHANGE, 0x00040000

# Bit 45 of process-scoped leaves: R for all, C for stores; rights come first.
main:
    bl      setup_radix
    STORE   PID1_L4, LEAF_NO_R | WINDOW
    STORE   PID1_L4 + 8, LEAF_NO_C | WINDOW | 0x1000
    STORE   PID1_L4 + 16, (LEAF_NO_R & ~7) | 1 | WINDOW | 0x2000
    INVALIDATE_ALL
    SET     13, WINDOW
    TO_GUEST 1, guest_load, GUEST_ON, 0x300, guest_load
    DESCRIBED 1, WINDOW, REFERENCE_CHANGE
    TO_GUEST 2, guest_store, GUEST_ON | MSR_PR | MSR_EE, 0x300, guest_store
    DESCRIBED 2, WINDOW, 0x02000000 | REFERENCE_CHANGE
    TO_GUEST 3, WINDOW, GUEST_ON, 0x400, WINDOW, REFERENCE_CHANGE
    DESCRIBED 3
    SET     13, WINDOW + 0x1000
    TO_GUEST 4, guest_store, GUEST_ON, 0x300, guest_store
    DESCRIBED 4, WINDOW + 0x1000, 0x02000000 | REFERENCE_CHANGE
    IN_GUEST guest_load, GUEST_ON
    CHECK   5, 20, 0xc00
    SET     13, WINDOW + 0x2000
    TO_GUEST 6, guest_load, GUEST_ON, 0x300, guest_load
    DESCRIBED 6, WINDOW + 0x2000, 0x08000000
    # The hypervisor's own leaves: no hypervisor storage interrupt.
    STORE   HOST_PROCESS_TABLE + 16, ROOT | GUEST_PID1_ROOT
    INVALIDATE_ALL
    SET     13, WINDOW + 0x1000
    TO_HOST_BY_SRR 7, guest_store, GUEST_ON | MSR_HV, 0x300, guest_store
    DESCRIBED 7, WINDOW + 0x1000, 0x02000000 | REFERENCE_CHANGE
    PASS
