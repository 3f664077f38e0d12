#include "prologue.inc"
#include "threads.inc"

CELL seen

main:
    SET_SPR VTB, 0
    START   1, other
    AWAIT   seen, 1
    mfspr   11, VTB
    srdi    11, 11, 32
    CHECK   1, 11, 0
    # It would be thread 1's by its TIR in a partition of two threads.
    SET     10, 0x28000001
    msgsndp 10
    CHECK_SPR 2, DPDES, 0
    TELL    seen, 2
    AWAIT   seen, 3
    PASS

other:
    SET     10, 0x1000000000
    mtspr   VTB, 10
    mfspr   10, TIR
    cmpdi   10, 0
    bne     .
    TELL    seen, 1
    AWAIT   seen, 2
    mfspr   10, DPDES
    cmpdi   10, 0
    bne     .
    mfspr   10, VTB
    srdi    10, 10, 32
    cmpdi   10, 0x10
    bne     .
    TELL    seen, 3
    b       .
