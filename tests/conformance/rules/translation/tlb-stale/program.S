#include "prologue.inc"
#include "radix.inc"

main:
    bl      setup_radix
    GUEST_READS 1, WINDOW, 0x11
    STORE   GUEST_L4, LEAF | FRAME_A
    ptesync
    GUEST_READS 2, WINDOW, 0x11
    # For another partition, and for another page: nothing happens to ours.
    TLBIE   WINDOW | AP_4K, 2, 0, 0
    TLBIE   (WINDOW + 0x1000) | AP_4K, RS_LPID1, 0, 0
    SYNC_TLBIE
    GUEST_READS 3, WINDOW, 0x11
    TLBIE   WINDOW | AP_4K, RS_LPID1, 0, 0
    SYNC_TLBIE
    GUEST_READS 4, WINDOW, 0xaa
    # tlbiel for all of the LPID.
    STORE   GUEST_L4, LEAF | FRAME_B
    ptesync
    GUEST_READS 5, WINDOW, 0xaa
    TLBIEL  IS_LPID, 0, 0, 0
    ptesync
    GUEST_READS 6, WINDOW, 0xbb
    PASS
