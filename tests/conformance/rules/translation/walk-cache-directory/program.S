#include "prologue.inc"
#include "radix.inc"

main:
    bl      setup_radix
    STORE   WINDOW + 0x1000, 0x12
    GUEST_READS 1, WINDOW, 0x11
    # Another table for the window; the second page was never translated, the directory is known.
    STORE   SPARE_TABLES, LEAF | FRAME_A
    STORE   SPARE_TABLES + 8, LEAF | FRAME_B
    STORE   GUEST_L3 + (WINDOW >> 21) * 8, DIRECTORY | SPARE_TABLES
    ptesync
    TLBIE   IS_LPID, RS_LPID1, 0, 0
    SYNC_TLBIE
    GUEST_READS 2, WINDOW + 0x1000, 0x12
    TLBIE   IS_LPID, RS_LPID1, 1, 0
    SYNC_TLBIE
    # RIC=1 leaves translations alone.
    GUEST_READS 3, WINDOW + 0x1000, 0x12
    GUEST_READS 4, WINDOW, 0xaa
    TLBIE   IS_LPID, RS_LPID1, 0, 0
    SYNC_TLBIE
    GUEST_READS 5, WINDOW + 0x1000, 0xbb
    # The old table loses an entry that the new one has: what would fault is walked from the start.
    STORE   SPARE_TABLES + 16, 0
    STORE   GUEST_L3 + (WINDOW >> 21) * 8, DIRECTORY | GUEST_L4
    ptesync
    STORE   WINDOW + 0x2000, 0x13
    GUEST_READS 6, WINDOW + 0x2000, 0x13
    PASS
