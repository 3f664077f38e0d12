#include "prologue.inc"
#include "opal.inc"
#include "threads.inc"
#include "deep.inc"

.set HOLD, 1
.set REJECT, 2
.set LOCK_BREAK, 3
.set RESUME, 4

CELL turn
CELL answer

main:
    START   4, other
    OPAL    QUIESCE, RESUME, -1
    CHECK   1, 3, -2
    OPAL    QUIESCE, HOLD, 77
    CHECK   2, 3, -1
    OPAL    QUIESCE, HOLD, -2
    CHECK   3, 3, -1
    OPAL    QUIESCE, REJECT, -1
    CHECK   4, 3, 0
    OPAL    QUIESCE, HOLD, -1
    CHECK   5, 3, -2
    TELL    turn, 1
    AWAIT   turn, 2
    # Its call failed; mine do not.
    ADDRESS 14, answer
    ld      14, 0(14)
    CHECK   6, 14, -2
    OPAL    QUIESCE, LOCK_BREAK, -1
    CHECK   7, 3, 0
    OPAL    QUIESCE, RESUME, -1
    CHECK   8, 3, 0
    OPAL    QUIESCE, HOLD, 4
    CHECK   9, 3, 0
    TELL    turn, 3
    lis     3, 1
    mtctr   3
1:  bdnz    1b
    # Its call waits.
    ADDRESS 14, turn
    ld      14, 0(14)
    CHECK   10, 14, 3
    OPAL    QUIESCE, RESUME, 4
    AWAIT   turn, 4
    ADDRESS 14, answer
    ld      14, 0(14)
    CHECK   11, 14, 1
    PASS

other:
    AWAIT   turn, 1
    OPAL    CHECK_TOKEN, QUIESCE, 0
    ADDRESS 14, answer
    std     3, 0(14)
    TELL    turn, 2
    AWAIT   turn, 3
    OPAL    CHECK_TOKEN, QUIESCE, 0
    ADDRESS 14, answer
    std     3, 0(14)
    TELL    turn, 4
    b       .
