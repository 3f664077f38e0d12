#include "prologue.inc"
#include "threads.inc"

CELL seen

main:
    SET_SPR VTB, 0
    START   1, other
    AWAIT   seen, 1
    mfspr   11, VTB
    srdi    11, 11, 32
    CHECK   1, 11, 0x10
    PASS

other:
    SET     10, 0x1000000000
    mtspr   VTB, 10
    TELL    seen, 1
    b       .
