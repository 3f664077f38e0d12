#include "prologue.inc"

.set MMCR0, 795
.set FC, 0x80000000
.set PMAE, 0x04000000
.set FCECE, 0x02000000
.set PMCJCE, 0x4000
.set PMAO, 0x80
.set CC56RUN, 0x100

main:
    mfmsr   11
    ori     11, 11, MSR_EE
    mtmsrd  11, 1
    # From the first instruction behind the write on.
    ON_INTERRUPT taken
    SET_SPR 791, 0x80000000 - 40
    SET_SPR MMCR0, PMAE | PMCJCE | FCECE | CC56RUN
    isync
counted:
    .rept 100
    addi    15, 15, 1
    .endr
    FAIL    1
taken:
    CHECK   1, 20, 0xf00
    CHECK_SPR 2, MMCR0, FC | FCECE | PMCJCE | PMAO | CC56RUN
    CHECK_SPR 3, 791, 0x80000000
    # SRR0 is behind as many instructions as the counter had left, or as few more as the write of MMCR0 takes.
    lis     12, counted@h
    ori     12, 12, counted@l
    subf    12, 12, 21
    srdi    12, 12, 2
    cmpldi  12, 36
    bge     1f
    FAIL    4
1:  cmpldi  12, 40
    ble     2f
    FAIL    5
2:  ON_INTERRUPT unexpected
    SET_SPR MMCR0, FC
    PASS
