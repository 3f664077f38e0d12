#include "prologue.inc"
#include "threads.inc"

CELL turn
    .balign 128
cell:   .quad 0
    .space 120
next:   .quad 0
    .balign 8

main:
    START   1, other
    ADDRESS 10, cell
    # Our own store keeps it, our neighbour's in the same line breaks it.
    ldarx   11, 0, 10
    std     11, 8(10)
    stdcx.  11, 0, 10
    beq     1f
    FAIL    1
1:  ldarx   11, 0, 10
    TELL    turn, 1
    AWAIT   turn, 2
    stdcx.  11, 0, 10
    bne     2f
    FAIL    2
    # A store to the next line does not.
2:  ldarx   11, 0, 10
    TELL    turn, 3
    AWAIT   turn, 4
    stdcx.  11, 0, 10
    beq     3f
    FAIL    3
    # It holds for one store, and for one line.
3:  stdcx.  11, 0, 10
    bne     4f
    FAIL    4
4:  ldarx   11, 0, 10
    ADDRESS 12, next
    stdcx.  11, 0, 12
    bne     5f
    FAIL    5
5:  PASS

other:
    AWAIT   turn, 1
    ADDRESS 10, cell
    li      11, 5
    std     11, 64(10)
    TELL    turn, 2
    AWAIT   turn, 3
    ADDRESS 10, next
    std     11, 0(10)
    TELL    turn, 4
    b       .
