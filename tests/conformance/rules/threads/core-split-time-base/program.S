#include "prologue.inc"
#include "split.inc"

main:
    SPLIT   SPLIT_2, IS_2
    SET_SPR TBU40, 0x1000000000
    FAIL    1
