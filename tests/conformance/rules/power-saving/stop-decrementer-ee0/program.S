#include "prologue.inc"

main:
    SET_SPR PSSCR, 0
    ON_INTERRUPT unexpected
    SET_SPR DEC, 5000
    # EE=0: the decrementer ends the wait and stays pending.
    stop
    mfspr   10, DEC
    extsw   10, 10
    cmpdi   10, 0
    blt     1f
    FAIL    1
1:  ON_INTERRUPT taken
    mfmsr   11
    ori     11, 11, MSR_EE
    mtmsrd  11, 1
2:  b       2b

taken:
    CHECK   2, 20, 0x900
    PASS
