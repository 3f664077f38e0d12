#include "prologue.inc"

main:
    # Without MSR[TM].
    ON_INTERRUPT refused
place:
    tbegin.
    FAIL    1
refused:
    CHECK   2, 20, 0xf60
    CHECK_ADDRESS 3, 21, place
    mfspr   10, FSCR
    srdi    10, 10, 56
    CHECK   4, 10, 5
    # With it, every tbegin. fails for good.
    ON_INTERRUPT unexpected
    RETURN_TO on, MSR_SF | MSR_HV | MSR_ME | MSR_TM
on:
    tbegin.
    beq     2f
    FAIL    5
2:  mfspr   10, 130
    srdi    11, 10, 56
    andi.   11, 11, 1
    CHECK   6, 11, 1
    mfspr   10, 128
    CHECK_ADDRESS 7, 10, on + 4
    PASS
