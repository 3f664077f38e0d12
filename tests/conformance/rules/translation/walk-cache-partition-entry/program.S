#include "prologue.inc"
#include "radix.inc"

main:
    bl      setup_radix
    STORE   WINDOW + 0x1000, 0x12
    GUEST_READS 1, WINDOW, 0x11
    # A whole new tree for LPID 1: 0..1 GiB in one page.
    STORE   SPARE_TABLES, LEAF
    STORE   SPARE_TABLES + 0x10000, DIRECTORY | SPARE_TABLES
    STORE   PARTITION_TABLE + 16, PATE_HR | ROOT | (SPARE_TABLES + 0x10000)
    STORE   GUEST_L4 + 8, LEAF | FRAME_A
    ptesync
    # All translations and directories go; the entry itself is still the old one.
    TLBIE   IS_LPID, RS_LPID1, 0, 0
    TLBIE   IS_LPID, RS_LPID1, 1, 0
    SYNC_TLBIE
    GUEST_READS 2, WINDOW + 0x1000, 0xaa
    TLBIE   IS_LPID, RS_LPID1, 2, 0
    SYNC_TLBIE
    GUEST_READS 3, WINDOW + 0x1000, 0x12
    PASS
