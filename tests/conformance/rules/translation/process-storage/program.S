#include "prologue.inc"
#include "radix.inc"

main:
    bl      setup_radix
    STORE   PID1_L4, 0
    STORE   PID1_L4 + 8, LEAF_READ_ONLY | FRAME_A
    STORE   PID1_L4 + 16, PRIVILEGED_LEAF | FRAME_B
    INVALIDATE_ALL
    SET     13, WINDOW + 0x18
    IN_GUEST guest_load, GUEST_ON
    TO_HOST
    CHECK   1, 6, 0x300
    CHECK_SPR 2, DSISR, 0x40000000
    CHECK_SPR 3, DAR, WINDOW + 0x18
    IN_GUEST guest_store, GUEST_ON
    TO_HOST
    CHECK_SPR 13, DSISR, 0x42000000
    SET     13, WINDOW + 0x1010
    IN_GUEST guest_store, GUEST_ON
    TO_HOST
    CHECK   4, 6, 0x300
    CHECK_SPR 5, DSISR, 0x0a000000
    # Problem state and a privileged page.
    SET     13, WINDOW + 0x2000
    IN_GUEST guest_load, GUEST_ON
    CHECK   6, 20, 0xc00
    IN_GUEST guest_load, GUEST_ON | MSR_PR | MSR_EE
    TO_HOST
    CHECK   7, 6, 0x300
    CHECK_SPR 8, DSISR, 0x08000000
    # A fetch: SRR1 says why, DSISR and DAR stay.
    SET     13, WINDOW
    IN_GUEST guest_fetch, GUEST_ON
    TO_HOST
    CHECK   9, 6, 0x400
    CHECK   10, 7, WINDOW
    CHECK_BITS 11, 8, 0x783f0000, 0x40000000
    CHECK_SPR 12, DSISR, 0x08000000
    PASS
