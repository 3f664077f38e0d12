#include "prologue.inc"
#include "radix.inc"

main:
    bl      setup_radix
    GUEST_READS 1, WINDOW, 0x11
    STORE   GUEST_L3 + (WINDOW >> 21) * 8, LEAF | LARGE_A
    ptesync
    TLBIE   IS_LPID, RS_LPID1, 1, 0
    SYNC_TLBIE
    GUEST_READS 2, WINDOW + 0x1000, 0
    SET     13, WINDOW
    IN_GUEST guest_load, MSR_SF
    FAIL    3
