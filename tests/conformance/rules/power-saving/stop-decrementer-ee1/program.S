#include "prologue.inc"

main:
    SET_SPR PSSCR, 0
    ON_INTERRUPT taken
    SET_SPR DEC, 50000
    mfmsr   11
    ori     11, 11, MSR_EE
    mtmsrd  11, 1
    stop
behind:
    FAIL    1

taken:
    CHECK   2, 20, 0x900
    CHECK_ADDRESS 3, 21, behind
    PASS
