#include "prologue.inc"
#include "threads.inc"

CELL ready

main:
    START   1, other
    AWAIT   ready, 1
    ON_INTERRUPT woken
    SET_SPR HMEER, 1 << (63 - 2)
    SET_SPR LPCR, LPCR_PECE_MAINTENANCE
    SET_SPR PSSCR, PSSCR_ESL | PSSCR_EC
    stop
    FAIL    1

woken:
    CHECK   2, 20, 0x100
    CHECK_BITS 3, 22, 0x3c0000, 0x280000
    CHECK_SPR 4, HMER, 1 << (63 - 2)
    ON_INTERRUPT taken
    mfmsr   10
    ori     10, 10, MSR_EE
    mtmsrd  10, 1
    FAIL    5
taken:
    CHECK   6, 20, 0xe60
    PASS

# Keeps the machine going.
other:
    TELL    ready, 1
1:  b       1b
