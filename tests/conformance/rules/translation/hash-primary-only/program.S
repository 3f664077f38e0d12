#include "prologue.inc"
#include "hash.inc"

.set PLAIN, PTE_R | PTE_C | PTE_M
.set TC, 1 << (63 - 54)

main:
    bl      setup_hash
    SEGMENT 0, 0x10000000, 0x123000 | BASE_4K
    ENTRY   0x123, 0x5000, 12, 0, 0, FRAME_A | PLAIN
    ENTRY   0x123, 0x6000, 12, 0, 0, FRAME_B | PLAIN, PTE_H
    READS   1, 0x10006000, 0xbb
    SET_SPR LPCR, TC
    isync
    INVALIDATE_ALL
    READS   2, 0x10005000, 0xaa
    LOAD_REFUSED 3, 0x10006000, 0x40000000
    SET_SPR LPCR, 0
    isync
    READS   4, 0x10006000, 0xbb
    PASS
