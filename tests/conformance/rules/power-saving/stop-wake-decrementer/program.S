#include "prologue.inc"

main:
    ON_INTERRUPT woken
    SET_SPR LPCR, LPCR_PECE_DEC
    SET_SPR PSSCR, PSSCR_ESL | PSSCR_EC
    SET_SPR DEC, 5000
    stop
    FAIL    1

woken:
    CHECK   2, 20, 0x100
    # SRR1[42:45]: the decrementer.
    CHECK_BITS 3, 22, 0x3c0000, 0x180000
    mfspr   10, DEC
    extsw   10, 10
    srdi    10, 10, 63
    CHECK   4, 10, 1
    PASS
