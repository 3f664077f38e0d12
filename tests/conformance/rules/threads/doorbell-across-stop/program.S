#include "prologue.inc"

main:
    mfspr   10, PIR
    SET     11, 0x28000000
    or      10, 10, 11
    SET_SPR PSSCR, 0
    # EE=0: the doorbell waits, and a stop does not.
    msgsnd  10
    msgsync
    stop
    ON_INTERRUPT rung
    mfmsr   12
    ori     13, 12, MSR_EE
    mtmsrd  13, 1
1:  b       1b

rung:
    CHECK   1, 20, 0xe80
    # It is over once its interrupt was taken.
    ON_INTERRUPT unexpected
    mtmsrd  13, 1
    nop
    nop
    mtmsrd  12, 1
    # msgclr takes one back.
    msgsnd  10
    msgsync
    msgclr  11
    mtmsrd  13, 1
    nop
    nop
    mtmsrd  12, 1
    PASS
