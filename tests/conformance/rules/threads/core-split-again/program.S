#include "prologue.inc"
#include "split.inc"

main:
    SPLIT   SPLIT_2, IS_2
    ASK     SPLIT_4
    FAIL    1
