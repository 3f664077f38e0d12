#include "prologue.inc"
#include "hash.inc"

.set PLAIN, PTE_R | PTE_C | PTE_M

# An entry that does not translate the address.
.macro PASSED_OVER number
    LOAD_REFUSED \number, 0x10005000, 0x40000000
.endm

main:
    bl      setup_hash
    SEGMENT 0, 0x10000000, 0x0000000000123000 | BASE_4K
    SEGMENT 1, 0x20000000, 0x0000000000123000 | BASE_64K
    PASSED_OVER 1
    STORE_REFUSED 2, 0x10005000, 0x42000000
    # Not valid; of the other hash; of another page, segment, and segment size.
    ENTRY   0x123, 0x5000, 12, 0, 0, FRAME_A | PLAIN
    CHANGE_FIRST 0x123000
    PASSED_OVER 3
    CHANGE_FIRST 0x123003
    PASSED_OVER 4
    CHANGE_FIRST 0x123081
    PASSED_OVER 5
    CHANGE_FIRST 0x124001
    PASSED_OVER 6
    CHANGE_FIRST 0x123001 | FIRST_1T
    CHANGE_SECOND FRAME_A | PLAIN | PTE_1T
    PASSED_OVER 7
    # Page sizes that the segment does not have, or nobody.
    CHANGE_FIRST 0x123005
    CHANGE_SECOND FRAME_A | PLAIN | P64K
    PASSED_OVER 8
    CHANGE_SECOND LARGE_A | PLAIN | P16M_IN_64K
    PASSED_OVER 9
    CHANGE_SECOND FRAME_A | PLAIN | 0x2000
    PASSED_OVER 10
    # A bit between the code of 16 MiB and the page's address.
    CHANGE_SECOND LARGE_A | PLAIN | P16M_IN_4K | 0x100000
    PASSED_OVER 11
    # Behind them is the one that does.
    ENTRY   0x123, 0x5000, 12, 5, 0, FRAME_B | PLAIN
    READS   12, 0x10005000, 0xbb
    # A wider segment number than an entry has: its high bits count.
    SEGMENT 2, 0x30000000, 0x0100000000123000 | BASE_4K
    LOAD_REFUSED 16, 0x30005000, 0x40000000
    SEGMENT 2, 0x0000030000000000, B_1T | 0x0100000000000000 | BASE_4K
    ENTRY_1T 0, 0x5000, 12, 5, 0, FRAME_B | PLAIN
    LOAD_REFUSED 17, 0x0000030000005000, 0x40000000
    # L=0 has no place in a segment of larger base pages.
    ENTRY   0x123, 0x70000, 16, 3, 0, FRAME_A | PLAIN
    LOAD_REFUSED 13, 0x20070000, 0x40000000
    CHANGE_FIRST 0x123005
    CHANGE_SECOND FRAME_A | PLAIN | P64K
    READS   14, 0x20070000, 0xaa
    # LPCR[ISL]: the segment's page size does not count.
    SET_SPR LPCR, 1 << (63 - 2)
    isync
    READS   15, 0x20005000, 0xbb
    PASS
