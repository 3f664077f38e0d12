#include "prologue.inc"

main:
    # 32 bits: bit 32 is the sign.
    SET_SPR DEC, 0x80100000
    ON_INTERRUPT small
    mfmsr   10
    ori     11, 10, MSR_EE
    mtmsrd  11, 1
1:  b       1b
small:
    CHECK   1, 20, 0x900
    # 56 bits with LPCR[LD]: the same value is positive.
    mfspr   12, LPCR
    SET     13, LPCR_LD
    or      12, 12, 13
    mtspr   LPCR, 12
    isync
    SET_SPR DEC, 0x80000000
    ON_INTERRUPT unexpected
    mtmsrd  11, 1
    li      3, 100
    mtctr   3
2:  bdnz    2b
    mtmsrd  10, 1
    # Bit 55 is the sign, and it is extended.
    SET_SPR DEC, (1 << 55) | 0x100000
    mfspr   14, DEC
    srdi    14, 14, 55
    CHECK   2, 14, 0x1ff
    ON_INTERRUPT large
    mtmsrd  11, 1
3:  b       3b
large:
    CHECK   3, 20, 0x900
    PASS
