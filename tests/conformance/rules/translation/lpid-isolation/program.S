#include "prologue.inc"
#include "radix.inc"

main:
    bl      setup_radix
    # LPID 2 has a tree of its own: the window is LARGE_B there.
    STORE   PARTITION_TABLE + 32, PATE_HR | ROOT | (SPARE_TABLES + 0x10000)
    STORE   PARTITION_TABLE + 40, GUEST_PROCESS_TABLE
    STORE   SPARE_TABLES + 0x10000, DIRECTORY | SPARE_TABLES
    STORE   SPARE_TABLES, DIRECTORY | (SPARE_TABLES + 0x1000)
    FILL    SPARE_TABLES + 0x1000, LEAF, 0x200000
    STORE   SPARE_TABLES + 0x1000 + (WINDOW >> 21) * 8, LEAF | LARGE_B
    ptesync
    GUEST_READS 1, WINDOW, 0x11
    SET_SPR LPIDR, 2
    isync
    GUEST_READS 2, WINDOW, 0xb2
    SET_SPR LPIDR, 1
    isync
    GUEST_READS 3, WINDOW, 0x11
    # LPID 0 is no partition's.
    SET_SPR LPIDR, 0
    isync
    SET     13, WINDOW
    IN_GUEST guest_load, GUEST_REAL
    CHECK   4, 20, 0xe20
    PASS
