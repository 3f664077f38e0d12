#include "prologue.inc"
#include "hash.inc"

.set PLAIN, PTE_R | PTE_C | 2
.set STRONG_ORDER, 0x70

# `instruction` to r13 with relocation on is interrupted so.
.macro REFUSED number, vector, instruction:vararg
    SET     13, 0x10005004
    ON_INTERRUPT .Lcame\@
    DATA_ON
    \instruction
    DATA_OFF
    FAIL    \number
.Lcame\@:
    ON_INTERRUPT unexpected
    CHECK   \number, 20, \vector
.endm
.macro WORKS instruction:vararg
    SET     13, 0x10005004
    DATA_ON
    \instruction
    DATA_OFF
.endm

main:
    bl      setup_hash
    SEGMENT 0, 0x10000000, 0x123000 | BASE_4K
    # Normal memory; then not cached, guarded or not.
    ENTRY   0x123, 0x5000, 12, 0, 0, FRAME_A | PLAIN | PTE_M
    WORKS   lwarx 14, 0, 13
    CHECK   1, 14, 0xaa
    CHANGE_SECOND FRAME_A | PLAIN | PTE_I | PTE_G
    INVALIDATE_ALL
    READS   1, 0x10005000, 0xaa
    REFUSED 2, 0x300, lwarx 14, 0, 13
    CHECK_SPR 2, DSISR, 0x04000000
    REFUSED 3, 0x600, ld 14, 0(13)
    REFUSED 4, 0x600, dcbz 0, 13
    CHANGE_SECOND FRAME_A | PLAIN | PTE_I | PTE_M
    INVALIDATE_ALL
    REFUSED 5, 0x300, lwarx 14, 0, 13
    # Cached, in strong access order: W, I and M without G.
    CHANGE_SECOND FRAME_A | PLAIN | STRONG_ORDER
    INVALIDATE_ALL
    WORKS   lwarx 14, 0, 13
    CHECK   6, 14, 0xaa
    WORKS   stwcx. 14, 0, 13
    WORKS   ld 14, 0(13)
    WORKS   dcbz 0, 13
    READS   7, 0x10005000, 0
    CHANGE_SECOND FRAME_A | PLAIN | STRONG_ORDER | PTE_G
    INVALIDATE_ALL
    REFUSED 8, 0x600, dcbz 0, 13
    PASS
