#include "prologue.inc"

main:
    ON_INTERRUPT woken
    SET_SPR LPCR, LPCR_PECE_DEC
    SET_SPR PSSCR, PSSCR_EC
    # A doorbell to this thread, which LPCR does not name.
    mfspr   10, PIR
    oris    10, 10, 0x2800
    msgsnd  10
    SET     14, 0x123456789abcdef0
    mtctr   14
    mtspr   TAR, 14
    mtcr    14
    SET_SPR DEC, 5000
    stop
behind:
    FAIL    1

woken:
    CHECK   2, 20, 0x100
    CHECK_ADDRESS 3, 21, behind
    # The decrementer; nothing was lost.
    CHECK_BITS 4, 22, 0x3f0000, 0x190000
    CHECK   5, 14, 0x123456789abcdef0
    CHECK_SPR 6, TAR, 0x123456789abcdef0
    PASS
