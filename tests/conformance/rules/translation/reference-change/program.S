#include "prologue.inc"
#include "radix.inc"

main:
    bl      setup_radix
    # Partition scope, R=0.
    STORE   GUEST_L4, LEAF_NO_R | FRAME_A
    STORE   GUEST_L4 + 8, LEAF_NO_C | FRAME_B
    ptesync
    SET     13, WINDOW + 0x18
    IN_GUEST guest_load, GUEST_REAL
    CHECK   1, 20, 0xe00
    CHECK_SPR 2, HDSISR, 0x00040000
    CHECK_SPR 3, HDAR, WINDOW + 0x18
    CHECK_SPR 4, ASDR, WINDOW
    # C=0: loads may, stores may not.
    GUEST_READS 5, WINDOW + 0x1000, 0xbb
    SET     13, WINDOW + 0x1008
    IN_GUEST guest_store, GUEST_REAL
    CHECK   6, 20, 0xe00
    CHECK_SPR 7, HDSISR, 0x02040000
    # Nothing was set in the tables.
    SET     13, GUEST_L4
    ld      10, 0(13)
    CHECK   8, 10, LEAF_NO_R | FRAME_A
    # Process scope goes to the operating system.
    STORE   GUEST_L4, LEAF | WINDOW
    STORE   PID1_L4, LEAF_NO_R | WINDOW
    ptesync
    SET     13, WINDOW
    IN_GUEST guest_load, GUEST_ON
    TO_HOST
    CHECK   9, 6, 0x300
    CHECK_SPR 10, DSISR, 0x00040000
    CHECK_SPR 11, DAR, WINDOW
    # A fetch.
    STORE   GUEST_L4, LEAF_NO_R | FRAME_A
    TLBIE   IS_LPID, RS_LPID1, 0, 0
    SYNC_TLBIE
    SET     13, WINDOW
    IN_GUEST guest_fetch, GUEST_REAL
    CHECK   12, 20, 0xe20
    CHECK_BITS 13, 24, 0x783f0000, 0x00040000
    CHECK   14, 23, WINDOW
    CHECK_SPR 15, ASDR, WINDOW
    PASS
