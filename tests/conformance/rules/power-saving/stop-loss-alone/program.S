#include "prologue.inc"

main:
    SET_SPR PSSCR, PSSCR_ESL
    SET_SPR DEC, 5000
    stop
    FAIL    1
