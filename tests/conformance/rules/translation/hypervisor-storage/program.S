#include "prologue.inc"
#include "radix.inc"

main:
    bl      setup_radix
    STORE   GUEST_L4, 0
    STORE   GUEST_L4 + 8, LEAF_READ_ONLY | FRAME_A
    INVALIDATE_ALL
    # No translation.
    SET     13, WINDOW + 0x18
    IN_GUEST guest_load, GUEST_REAL
    CHECK   1, 20, 0xe00
    CHECK_ADDRESS 2, 23, guest_load
    CHECK_SPR 3, HDSISR, 0x40000000
    CHECK_SPR 4, HDAR, WINDOW + 0x18
    mfspr   10, ASDR
    CHECK_BITS 5, 10, 0x0ffffffffffff000, WINDOW
    # A store without the right.
    SET     13, WINDOW + 0x1010
    IN_GUEST guest_store, GUEST_REAL
    CHECK   6, 20, 0xe00
    CHECK_SPR 7, HDSISR, 0x0a000000
    CHECK_SPR 8, HDAR, WINDOW + 0x1010
    # HSRR1 is the partition's MSR.
    CHECK   9, 24, GUEST_REAL
    # Fetches.
    SET     13, WINDOW
    IN_GUEST guest_fetch, GUEST_REAL
    CHECK   10, 20, 0xe20
    CHECK   11, 23, WINDOW
    CHECK_BITS 12, 24, 0x783f0000, 0x40000000
    SET     13, WINDOW + 0x1000
    IN_GUEST guest_fetch, GUEST_REAL
    CHECK   13, 20, 0xe20
    CHECK_BITS 14, 24, 0x783f0000, 0x10000000
    PASS
