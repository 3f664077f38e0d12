#include "prologue.inc"
#include "radix.inc"

main:
    bl      setup_radix
    SET     13, WINDOW
    IN_GUEST guest_load, GUEST_ON
    CHECK   1, 14, 0x11
    # A new tree for PID 1: the window at FRAME_A, everything else as before.
    STORE   SPARE_TABLES + 0x10000, DIRECTORY | SPARE_TABLES
    STORE   SPARE_TABLES, DIRECTORY | (SPARE_TABLES + 0x1000)
    FILL    SPARE_TABLES + 0x1000, LEAF, 0x200000
    STORE   SPARE_TABLES + 0x1000 + (WINDOW >> 21) * 8, LEAF | LARGE_A
    STORE   GUEST_PROCESS_TABLE + 16, ROOT | (SPARE_TABLES + 0x10000)
    ptesync
    TLBIE   IS_PID, RS_PID1 | RS_LPID1, 0, 1
    TLBIE   IS_PID, RS_PID1 | RS_LPID1, 1, 1
    SYNC_TLBIE
    SET     13, WINDOW
    IN_GUEST guest_load, GUEST_ON
    CHECK   2, 14, 0x11
    TLBIE   IS_PID, RS_PID1 | RS_LPID1, 2, 1
    SYNC_TLBIE
    SET     13, WINDOW
    IN_GUEST guest_load, GUEST_ON
    CHECK   3, 14, 0xa2
    PASS
