#include "prologue.inc"

main:
    SET_SPR LPCR, LPCR_HDICE
    SET_SPR PSSCR, 0
    SET_SPR HDEC, 5000
    stop
    # EE=0 with HV=1 holds it back; nothing else ended the wait.
    ON_INTERRUPT taken
    mfmsr   11
    ori     11, 11, MSR_EE
    mtmsrd  11, 1
2:  b       2b

taken:
    CHECK   2, 20, 0x980
    PASS
