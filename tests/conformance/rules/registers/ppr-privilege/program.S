#include "prologue.inc"

.set PPR, 896
.macro PRIORITY number, value
    mfspr   10, PPR
    rldicl  10, 10, 14, 61
    CHECK   \number, 10, \value
.endm

main:
    PRIORITY 1, 4
    or      31, 31, 31
    PRIORITY 2, 1
    or      1, 1, 1
    PRIORITY 3, 2
    or      6, 6, 6
    PRIORITY 4, 3
    or      5, 5, 5
    PRIORITY 5, 5
    or      3, 3, 3
    PRIORITY 6, 6
    or      7, 7, 7
    PRIORITY 7, 7
    or      2, 2, 2
    PRIORITY 8, 4
    SET_SPR PPR, 6 << 50
    PRIORITY 9, 6
    PASS
