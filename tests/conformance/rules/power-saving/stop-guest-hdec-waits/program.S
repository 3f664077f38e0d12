#include "prologue.inc"
#include "radix.inc"

main:
    bl      setup_radix
    ON_INTERRUPT limit
    SET_SPR PSSCR, 0
    SET_SPR LPCR, LPCR_RADIX | LPCR_HDICE
    SET_SPR HDEC, 1000
    SET_SPR DEC, 100000
    ENTER_GUEST sleeper, GUEST_REAL
limit:

    CHECK   1, 20, 0x980
    mfspr   10, DEC
    extsw   10, 10
    srdi    10, 10, 63
    CHECK   3, 10, 1
    CHECK_ADDRESS 2, 23, behind
    PASS

sleeper:
    stop
behind:
    sc      1
