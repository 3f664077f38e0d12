#include "prologue.inc"
#include "threads.inc"
#include "split.inc"

main:
    START   1, other
    b       .

other:
    ON_INTERRUPT unexpected
    ASK     STAYS | SPLIT_2
    FAIL    1
