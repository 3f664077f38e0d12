#include "prologue.inc"
#include "threads.inc"

CELL ready
CELL beside
CELL beyond

main:
    START   1, same_core
    AWAIT   ready, 1
    START   4, other_core
    AWAIT   ready, 2
    # To the core of thread 1, which is this one too.
    SET     10, 0x28000001 | 2 << 25
    msgsnd  10
    ON_INTERRUPT rung
    mfmsr   11
    ori     12, 11, MSR_EE
    mtmsrd  12, 1
    FAIL    1
rung:
    CHECK   2, 20, 0xe80
    AWAIT   beside, 1
    # The other core has had the time to notice.
    lis     3, 1
    mtctr   3
1:  bdnz    1b
    ADDRESS 10, beyond
    ld      10, 0(10)
    CHECK   3, 10, 0
    # It does notice one of its own.
    RING    4
    AWAIT   beyond, 1
    PASS

same_core:
    ON_INTERRUPT rung_beside
    SET_SPR DEC, 0x7fffffff
    mfmsr   11
    ori     12, 11, MSR_EE
    mtmsrd  12, 1
    TELL    ready, 1
1:  b       1b
rung_beside:
    TELL    beside, 1
1:  b       1b

other_core:
    ON_INTERRUPT rung_beyond
    SET_SPR DEC, 0x7fffffff
    mfmsr   11
    ori     12, 11, MSR_EE
    mtmsrd  12, 1
    TELL    ready, 2
1:  b       1b
rung_beyond:
    TELL    beyond, 1
1:  b       1b
