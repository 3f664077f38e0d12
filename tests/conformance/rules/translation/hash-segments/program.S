#include "prologue.inc"
#include "hash.inc"

.set PLAIN, PTE_R | PTE_C | PTE_M

main:
    bl      setup_hash
    LOAD_FAULTS 1, 0x10005000, 0x380
    STORE_FAULTS 2, 0x10005000, 0x380
    FETCH_REFUSED 3, 0x10005000, 0x480, 0
    ENTRY   0x123, 0x5000, 12, 0, 0, FRAME_A | PLAIN
    ENTRY   0x456, 0x5000, 12, 0, 0, FRAME_B | PLAIN
    ENTRY_1T 0x65, 0x9010005000, 12, 0, 0, FRAME_A | PLAIN
    SEGMENT 7, 0x10000000, 0x0000000000123000
    READS   4, 0x10005000, 0xaa
    # Bits above the segment count.
    LOAD_FAULTS 5, 0x20005000, 0x380
    LOAD_FAULTS 6, 0x8000000010005000, 0x380
    # Another segment in its place.
    li      3, 0
    slbmte  3, 3
    SET     3, 0x10000000
    slbie   3
    isync
    LOAD_FAULTS 7, 0x10005000, 0x380
    SEGMENT 7, 0x10000000, 0x0000000000456000
    READS   8, 0x10005000, 0xbb
    # A segment of 1 TiB.
    SEGMENT 0, 0x0000050000000000, B_1T | 0x0000000065000000
    READS   9, 0x0000059010005000, 0xaa
    SET     3, 0x10000000
    slbie   3
    isync
    LOAD_FAULTS 11, 0x10005000, 0x380
    READS   12, 0x0000059010005000, 0xaa
    # slbia leaves entry 0, slbia 4, which POWER8 does not have, does not.
    SEGMENT 7, 0x10000000, 0x0000000000456000
    READS   13, 0x10005000, 0xbb
    slbia
    isync
    LOAD_FAULTS 14, 0x10005000, 0x380
    READS   15, 0x0000059010005000, 0xaa
.ifndef Power8
    slbia   4
    isync
    LOAD_FAULTS 16, 0x0000059010005000, 0x380
.endif
    PASS
