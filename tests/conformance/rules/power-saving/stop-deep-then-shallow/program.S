#include "prologue.inc"
#include "threads.inc"
#include "deep.inc"

.set HSPRG1, 305
.set PTCR, 464

CELL turn

# The sibling stops once, at stop5. Thread 0 stops beside it twice: at stop5, which the core reaches, and at stop2.
main:
    START   1, sibling
    AWAIT   turn, 1
    ON_RESET first
    SET_SPR LPCR, LPCR_PECE_DEC
    SET_SPR PTCR, 0x10000
    SET_SPR PSSCR, DEEP | 0x75
    SET_SPR DEC, 5000
    stop
    FAIL    1

first:
    mfspr   14, PSSCR
    srdi    14, 14, 60
    CHECK   2, 14, 5
    CHECK_SPR 3, PTCR, 0
    # What Linux does: whoever wakes first sets the core's registers for all.
    SET_SPR PTCR, 0x20000
    ON_RESET second
    SET_SPR LPCR, LPCR_PECE_HDOORBELL
    SET_SPR PSSCR, DEEP | 0x32
    stop
    FAIL    4

second:
    mfspr   14, PIR
    cmpdi   14, 0
    bne     sibling_woken
    AWAIT   turn, 2
    CHECK_SPR 5, PTCR, 0x20000
    mfspr   14, PSSCR
    srdi    14, 14, 60
    CHECK   6, 14, 2
    PASS

sibling:
    SET_SPR HSPRG1, 0x77
    SET_SPR HDEC, 0x7fffffff
    SET_SPR DEC, 100000
    SET_SPR LPCR, LPCR_PECE_DEC
    TELL    turn, 1
    SET_SPR PSSCR, DEEP | 0x75
    stop
    b       .

# Its core sleeps at stop2. Its own registers were lost at stop5.
sibling_woken:
    mfspr   14, PSSCR
    srdi    14, 14, 60
    cmpdi   14, 5
    bne     tell
    mfspr   14, HSPRG1
    cmpdi   14, 0x77
    beq     tell
    mfspr   14, PTCR
    SET     15, 0x20000
    cmpd    14, 15
    bne     tell
    TELL    turn, 2
    RING    0
    b       .
# Thread 0 waits for ever then, unless it is told that something is wrong.
tell:
    FAIL    7
