#include "prologue.inc"
#include "threads.inc"

CELL ready

main:
    START   1, other
    AWAIT   ready, 1
    ON_INTERRUPT woken
    # The decrementer expires and wakes nobody: PECE does not name it.
    SET_SPR LPCR, LPCR_PECE_HDOORBELL
    SET_SPR PSSCR, PSSCR_ESL | PSSCR_EC
    SET_SPR DEC, 100
    TELL    ready, 2
    stop
    FAIL    1

woken:
    CHECK   2, 20, 0x100
    CHECK_BITS 3, 22, 0x3c0000, 0x0c0000
    mfspr   10, DEC
    extsw   10, 10
    srdi    10, 10, 63
    CHECK   4, 10, 1
    # The doorbell itself is still there.
    ON_INTERRUPT rung
    SET_SPR DEC, 0x7fffffff
    mfmsr   10
    ori     10, 10, MSR_EE
    mtmsrd  10, 1
1:  b       1b
rung:
    CHECK   5, 20, 0xe80
    # SRR0 was written by the wake-up, and not by this one.
    PASS

other:
    TELL    ready, 1
    AWAIT   ready, 2
    lis     3, 2
    mtctr   3
1:  bdnz    1b
    RING    0
2:  b       2b
