#include "prologue.inc"
#include "radix.inc"
#include "threads.inc"

CELL ready

main:
    bl      setup_radix
    START   1, other
    AWAIT   ready, 1
    ON_INTERRUPT rung
    SET_SPR PSSCR, 0
    SET_SPR DEC, 0x7fffffff
    TELL    ready, 2
    ENTER_GUEST sleeper, GUEST_REAL
rung:
    CHECK   1, 20, 0xe80
    CHECK_ADDRESS 2, 23, behind
    PASS

sleeper:
    stop
behind:
    b       .

other:
    TELL    ready, 1
    AWAIT   ready, 2
    lis     3, 2
    mtctr   3
1:  bdnz    1b
    RING    0
2:  b       2b
