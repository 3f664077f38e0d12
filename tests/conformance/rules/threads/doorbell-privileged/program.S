#include "prologue.inc"
#include "threads.inc"

CELL seen

main:
    START   1, other
    AWAIT   seen, 1
    CHECK_SPR 1, TIR, 0
    # Thread 1 of the core, by its TIR.
    SET     10, 0x28000001
    msgsndp 10
    CHECK_SPR 2, DPDES, 2
    TELL    seen, 2
    AWAIT   seen, 3
    CHECK_SPR 3, DPDES, 0
    # DPDES rings too.
    ON_INTERRUPT rung
    SET_SPR DPDES, 1
    mfmsr   11
    ori     12, 11, MSR_EE
    mtmsrd  12, 1
1:  b       1b
rung:
    CHECK   4, 20, 0xa00
    CHECK_SPR 5, DPDES, 0
    # msgclrp takes one back.
    ON_INTERRUPT unexpected
    SET     10, 0x28000000
    msgsndp 10
    CHECK_SPR 6, DPDES, 1
    msgclrp 10
    CHECK_SPR 7, DPDES, 0
    # A thread that the core does not have.
    SET     10, 0x28000002
    msgsndp 10
    CHECK_SPR 8, DPDES, 0
    PASS

other:
    SET_SPR DEC, 0x7fffffff
    TELL    seen, 1
    AWAIT   seen, 2
    ON_INTERRUPT other_rung
    mfspr   10, TIR
    cmpdi   10, 1
    bne     .
    mfmsr   11
    ori     12, 11, MSR_EE
    mtmsrd  12, 1
1:  b       1b
other_rung:
    cmpdi   20, 0xa00
    bne     .
    TELL    seen, 3
    b       .
