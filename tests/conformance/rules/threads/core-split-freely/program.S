#include "prologue.inc"
#include "split.inc"

main:
    ASK     SPLIT_2
    FAIL    1
