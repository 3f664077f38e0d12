#include "prologue.inc"

.set MMCR0, 795
.set FC, 0x80000000
.set CC56RUN, 0x100

# Counts what lies between two writes of MMCR0 with `count` instructions there; r14 to r18 are PMC1 to PMC5.
.macro COUNTED count
    .irp number, 787, 788, 789, 790, 791
    SET_SPR \number, 0
    .endr
    isync
    SET_SPR MMCR0, CC56RUN
    isync
    .rept \count
    nop
    .endr
    SET_SPR MMCR0, FC
    isync
    mfspr   14, 787
    mfspr   15, 788
    mfspr   16, 789
    mfspr   17, 790
    mfspr   18, 791
.endm

main:
    SET_SPR 798, 0x02020202
    COUNTED 10
    mr      8, 14
    mr      9, 15
    mr      10, 16
    mr      11, 17
    mr      12, 18
    COUNTED 110
    subf    14, 8, 14
    subf    15, 9, 15
    subf    16, 10, 16
    subf    17, 11, 17
    subf    18, 12, 18
    CHECK   1, 14, 100
    CHECK   2, 15, 100
    CHECK   3, 16, 100
    CHECK   4, 17, 100
    CHECK   5, 18, 100
    # What is frozen stays as it is.
    SET_SPR 791, 5
    SET_SPR MMCR0, FC
    nop
    nop
    CHECK_SPR 6, 791, 5
    # Without an event, or frozen by MMCR0[FC1-4] and MMCR0[FC5-6].
    SET_SPR 798, 0
    COUNTED 10
    CHECK   7, 14, 0
    PASS
