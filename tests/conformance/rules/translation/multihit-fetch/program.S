#include "prologue.inc"
#include "radix.inc"

main:
    bl      setup_radix
    # blr in both frames.
    SET     10, 0x4e8000204e800020
    SET     11, WINDOW
    std     10, 0(11)
    SET     11, LARGE_A
    std     10, 0(11)
    icbi    0, 11
    isync
    SET     13, WINDOW
    IN_GUEST guest_fetch, GUEST_REAL
    CHECK   1, 20, 0xc00
    STORE   GUEST_L3 + (WINDOW >> 21) * 8, LEAF | LARGE_A
    ptesync
    TLBIE   IS_LPID, RS_LPID1, 1, 0
    SYNC_TLBIE
    SET     13, WINDOW + 0x1000
    IN_GUEST guest_load, GUEST_REAL
    CHECK   2, 20, 0xc00
    SET     13, WINDOW
    IN_GUEST guest_fetch, GUEST_REAL
    CHECK   3, 20, 0x200
    CHECK   4, 21, WINDOW
    CHECK_BITS 5, 22, 0x003c0000, 0x00140000
    PASS
