#include "prologue.inc"
#include "hash.inc"

.set PLAIN, PTE_R | PTE_C | PTE_M

# What both processors say of two translations for one address.
.macro TWO_SIZES number
    LOAD_FAULTS \number, 0x19002000, 0x200
    CHECK_BITS \number, 22, 0x003c0000, 0x00200000
    CHECK_SPR \number, DSISR, 0x400
.endm

main:
    bl      setup_hash
    SEGMENT 0, 0x10000000, 0x0000000000123000 | BASE_4K
    # Two entries that say the same.
    ENTRY   0x123, 0x9002000, 12, 0, 0, FRAME_B | PLAIN
    ENTRY   0x123, 0x9002000, 12, 6, 0, FRAME_B | PLAIN
    READS   1, 0x19002000, 0xbb
    # One of them has another size: in the same group ...
    INVALIDATE_ALL
    ENTRY   0x123, 0x9002000, 12, 6, PTE_L, FRAME_B | P64K_IN_4K | PLAIN
    TWO_SIZES 2
    # ... and in the other one.
    CHANGE_FIRST 0
    ENTRY   0x123, 0x9002000, 12, 1, PTE_L, FRAME_B | P64K_IN_4K | PLAIN, PTE_H
    INVALIDATE_ALL
    TWO_SIZES 3
    # Without it all is well.
    CHANGE_FIRST 0
    INVALIDATE_ALL
    READS   4, 0x19002000, 0xbb
    PASS
