#include "prologue.inc"
#include "radix.inc"

main:
    bl      setup_radix
    ON_INTERRUPT back
    SET_SPR PSSCR, (3 << 16) | 5
    SET_SPR DEC, 1000
    ENTER_GUEST sleeper, GUEST_REAL
back:
    CHECK   1, 20, 0xc00
    CHECK_SPR 2, PSSCR, (3 << 60) | (3 << 16) | 5
    PASS

sleeper:
    stop
    sc      1
