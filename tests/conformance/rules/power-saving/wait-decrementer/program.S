#include "prologue.inc"

main:
    # With EE=0 the decrementer ends the wait, and no interrupt follows.
    SET_SPR DEC, 5000
    wait
    mfspr   5, DEC
    extsw   5, 5
    srdi    5, 5, 63
    CHECK   1, 5, 1
    # One that is already there: the wait is over at once.
    wait
    # With EE=1 the interrupt is taken behind the wait.
    SET_SPR DEC, 5000
    ON_INTERRUPT interrupted
    mfmsr   10
    ori     11, 10, MSR_EE
    mtmsrd  11, 1
    wait
after:
    FAIL    2
interrupted:
    CHECK   3, 20, 0x900
    CHECK_ADDRESS 4, 21, after
    PASS
