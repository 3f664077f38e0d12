#include "prologue.inc"

main:
    ON_INTERRUPT first
    SET_SPR DEC, 0xffffffff
    mfmsr   10
    ori     11, 10, MSR_EE
    mtmsrd  11, 1
1:  b       1b

first:
    CHECK   1, 20, 0x900
    # Nobody wrote DEC: with EE on again it interrupts again.
    ON_INTERRUPT second
    mtmsrd  11, 1
1:  b       1b

second:
    CHECK   2, 20, 0x900
    # A positive DEC takes the exception away.
    ON_INTERRUPT unexpected
    SET_SPR DEC, 0x7fffffff
    mtmsrd  11, 1
    li      3, 1000
    mtctr   3
1:  bdnz    1b
    mtmsrd  10, 1
    PASS
