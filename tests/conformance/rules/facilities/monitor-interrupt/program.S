#include "prologue.inc"
#include "radix.inc"

.set MMCR0, 795
.set FC, 0x80000000
.set PMAE, 0x04000000
.set EBE, 0x00100000
.set PMC1CE, 0x8000
.set PMAO, 0x80

main:
    bl      setup_radix
    mfmsr   10
    ori     11, 10, MSR_EE
    # It waits for EE.
    SET_SPR MMCR0, FC | PMAO
    isync
    ON_INTERRUPT taken
    mtmsrd  11, 1
enabled:
    FAIL    1
taken:
    CHECK   1, 20, 0xf00
    CHECK_ADDRESS 2, 21, enabled
    CHECK_BITS 3, 22, 0x783f0000, 0
    # It has not gone away.
    ON_INTERRUPT again
    mtmsrd  11, 1
    FAIL    4
again:
    CHECK   4, 20, 0xf00
    ON_INTERRUPT unexpected
    SET_SPR MMCR0, FC | PMAO | EBE
    mtmsrd  11, 1
    nop
    mtmsrd  10, 1
    SET_SPR MMCR0, FC
    mtmsrd  11, 1
    nop
    # A counter that software makes negative; the counters stay frozen.
    SET_SPR MMCR0, FC | PMAE | PMC1CE
    ON_INTERRUPT negative
    SET_SPR 787, 0x80000000
    FAIL    5
negative:
    CHECK   5, 20, 0xf00
    CHECK_SPR 6, MMCR0, FC | PMC1CE | PMAO
    SET_SPR MMCR0, FC
    # The partition's own.
    SET_SPR HFSCR, 1 << 3
    IN_GUEST guest, GUEST_REAL | MSR_EE
    TO_HOST
    CHECK   7, 6, 0xf00
    CHECK_ADDRESS 8, 7, behind
    CHECK   9, 8, GUEST_REAL | MSR_EE
    PASS

guest:
    lis     10, FC@h
    ori     10, 10, PMAO
    mtspr   MMCR0, 10
behind:
    b       .
