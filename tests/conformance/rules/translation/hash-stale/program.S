#include "prologue.inc"
#include "hash.inc"

.set PLAIN, PTE_R | PTE_C | PTE_M

# What the TLB has stays, although the entry is gone from the table.
.macro STAYS number, address, value, invalidate:vararg
    \invalidate
    READS   \number, \address, \value
.endm

main:
    bl      setup_hash
    SEGMENT 0, 0x10000000, 0x0000000000123000 | BASE_4K
    SEGMENT 1, 0x20000000, 0x0000000000123000 | BASE_64K
    ENTRY   0x123, 0x9001000, 12, 0, PTE_L, LARGE_A | P16M_IN_4K | PLAIN
    STORE   LARGE_A + 0x1000, 0xa3
    READS   1, 0x19001000, 0xa3
    CHANGE_FIRST 0
    ptesync
    READS   2, 0x19001000, 0xa3
    WRITES  0x19001008, 0xa4
    READS   23, 0x19001008, 0xa4
    # Another page, segment, segment size, partition, base and actual page size.
    STAYS   3, 0x19001000, 0xa3, INVALIDATE 0x1238001000 | AP_16M
    STAYS   4, 0x19001000, 0xa3, INVALIDATE 0x1249001000 | AP_16M
    STAYS   5, 0x19001000, 0xa3, INVALIDATE 0x1239001000 | AP_16M | RB_1T
    STAYS   6, 0x19001000, 0xa3, INVALIDATE 0x1239001000 | AP_16M, 1
    STAYS   7, 0x19001000, 0xa3, INVALIDATE_LARGE 0x1239000000, P16M_IN_64K
    STAYS   8, 0x19001000, 0xa3, INVALIDATE 0x1239001000 | AP_64K
    # Another base page of the same page: this one loaded it.
    STAYS   9, 0x19001000, 0xa3, INVALIDATE 0x1239000000 | AP_16M
    STAYS   10, 0x19001000, 0xa3, INVALIDATE IS_LPID, 1
    INVALIDATE 0x1239001000 | AP_16M
    LOAD_REFUSED 11, 0x19001000, 0x40000000
    # An entry of another base page size for the same virtual address is no multi-hit.
    ENTRY   0x123, 0x9001000, 12, 0, 0, FRAME_A | PLAIN
    READS   12, 0x19001000, 0xaa
    ENTRY   0x123, 0x9000000, 16, 1, PTE_L, FRAME_B | P64K | PLAIN
    READS   13, 0x29000000, 0xbb
    READS   14, 0x19001000, 0xaa
    # One of another actual page size is.
    CHANGE_FIRST 0
    ENTRY   0x123, 0x9002000, 12, 2, PTE_L, LARGE_A | P16M_IN_4K | PLAIN
    READS   15, 0x19002000, 0
    LOAD_FAULTS 16, 0x19001000, 0x200
    CHECK_SPR 17, DSISR, 0x400
    CHECK_BITS 18, 22, 0x00200000, 0x00200000
    INVALIDATE_ALL
    # Two segments for one address.
    SEGMENT 2, 0x20000000, 0x0000000000456000 | BASE_4K
    LOAD_FAULTS 19, 0x29000000, 0x200
    CHECK_SPR 20, DSISR, 0x80
    FETCH   0x29000000
    CHECK   21, 20, 0x200
    CHECK_BITS 22, 22, 0x003c0000, 0x000c0000
    PASS
