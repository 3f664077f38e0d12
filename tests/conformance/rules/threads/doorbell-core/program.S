#include "prologue.inc"
#include "threads.inc"

CELL ready
CELL rung_cell
CELL beyond

main:
    START   5, sibling
    AWAIT   ready, 1
    START   13, stranger
    AWAIT   ready, 2
    # The number is that of a thread in the core: 5, and in 13 no bit counts that would name another core.
    RING    5
    AWAIT   rung_cell, 1
    RING    13
    # The other core has had the time to notice.
    lis     3, 1
    mtctr   3
1:  bdnz    1b
    ADDRESS 10, beyond
    ld      10, 0(10)
    CHECK   1, 10, 0
    # It rings its own thread 5.
    TELL    ready, 3
    AWAIT   beyond, 1
    PASS

sibling:
    ON_INTERRUPT rung
    SET_SPR DEC, 0x7fffffff
    mfmsr   11
    ori     12, 11, MSR_EE
    mtmsrd  12, 1
    TELL    ready, 1
1:  b       1b
rung:
    CHECK   2, 20, 0xe80
    TELL    rung_cell, 1
1:  b       1b

stranger:
    ON_INTERRUPT rung_beyond
    SET_SPR DEC, 0x7fffffff
    mfmsr   11
    ori     12, 11, MSR_EE
    mtmsrd  12, 1
    TELL    ready, 2
    AWAIT   ready, 3
    RING    5
1:  b       1b
rung_beyond:
    CHECK   3, 20, 0xe80
    TELL    beyond, 1
1:  b       1b
