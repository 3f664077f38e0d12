#include "prologue.inc"

main:
    ON_INTERRUPT refused
place:
    fmr     1, 2
    FAIL    1
refused:
    CHECK   2, 20, 0x800
    CHECK_ADDRESS 3, 21, place
    CHECK_BITS 4, 22, 0x783f0000, 0
    ON_INTERRUPT unexpected
    mfmsr   10
    ori     10, 10, MSR_FP
    mtmsrd  10
    fmr     1, 2
    PASS
