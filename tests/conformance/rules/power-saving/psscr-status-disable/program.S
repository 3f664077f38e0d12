#include "prologue.inc"

main:
    SET_SPR PSSCR, 2
    SET_SPR DEC, 1000
    stop
    mfspr   10, PSSCR_GUEST
    CHECK   1, 10, (2 << 60) | 2
    SET_SPR PSSCR, (2 << 60) | PSSCR_SD | 2
    mfspr   10, PSSCR_GUEST
    CHECK   2, 10, 2
    # The privileged number changes TR, MTL and RL alone.
    SET_SPR PSSCR, 3 << 16
    SET_SPR PSSCR_GUEST, 0x0fffffffffffffff
    CHECK_SPR 3, PSSCR, (3 << 16) | 0x3ff
    PASS
