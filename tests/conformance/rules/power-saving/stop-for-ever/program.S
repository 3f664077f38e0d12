#include "prologue.inc"

main:
    SET_SPR LPCR, 0
    SET_SPR PSSCR, PSSCR_ESL | PSSCR_EC
    stop
