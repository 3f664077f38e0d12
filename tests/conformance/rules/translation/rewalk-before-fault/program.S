#include "prologue.inc"
#include "radix.inc"

main:
    bl      setup_radix
    STORE   GUEST_L4, LEAF_READ_ONLY | FRAME_A
    INVALIDATE_ALL
    GUEST_READS 1, WINDOW, 0xaa
    li      14, 0x77
    SET     13, WINDOW
    IN_GUEST guest_store, GUEST_REAL
    CHECK   2, 20, 0xe00
    mfspr   10, HDSISR
    CHECK   3, 10, 0x0a000000
    # More rights, and no tlbie.
    STORE   GUEST_L4, LEAF | FRAME_A
    ptesync
    IN_GUEST guest_store, GUEST_REAL
    CHECK   4, 20, 0xc00
    SET     13, FRAME_A
    ld      10, 0(13)
    CHECK   5, 10, 0x77
    # The same with an entry that was not there at all.
    STORE   GUEST_L4 + 8, 0
    ptesync
    SET     13, WINDOW + 0x1000
    IN_GUEST guest_load, GUEST_REAL
    CHECK   6, 20, 0xe00
    STORE   GUEST_L4 + 8, LEAF | FRAME_B
    ptesync
    GUEST_READS 7, WINDOW + 0x1000, 0xbb
    PASS
