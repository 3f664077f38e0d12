#include "prologue.inc"
#include "threads.inc"
#include "split.inc"

CELL seen

main:
    START   1, other
    AWAIT   seen, 1
    li      3, 3000
    mtctr   3
1:  bdnz    1b
    ASK     STAYS | SPLIT_2
    FAIL    1

other:
    TELL    seen, 1
    mfmsr   26
    ori     26, 26, MSR_DR
    mtmsrd  26
    b       .
