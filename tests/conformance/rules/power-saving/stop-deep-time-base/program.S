#include "prologue.inc"
#include "threads.inc"
#include "deep.inc"

CELL turn
CELL before
CELL after
CELL resynced

# The other core sleeps in stop8 with a decrementer that would expire; its time base stands still.
main:
    START   4, sleeper
    AWAIT   turn, 1
    lis     3, 8
    mtctr   3
1:  bdnz    1b
    ADDRESS 14, turn
    ld      14, 0(14)
    CHECK   1, 14, 1
    RING    4
    AWAIT   turn, 2
    # It slept for some 70,000 ticks of which its time base saw almost none.
    ADDRESS 14, before
    ld      15, 0(14)
    ADDRESS 14, after
    ld      16, 0(14)
    sub     27, 16, 15
    cmpdi   27, 2000
    blt     1f
    FAIL    2
1:  ADDRESS 14, resynced
    ld      17, 0(14)
    mftb    18
    sub     27, 18, 17
    cmpdi   27, 2000
    blt     1f
    FAIL    3
1:  cmpdi   27, 0
    bge     1f
    FAIL    4
1:  PASS

sleeper:
    ON_RESET woken
    SET_SPR HDEC, 0x7fffffff
    SET_SPR DEC, 3000
    SET_SPR LPCR, LPCR_PECE_HDOORBELL | LPCR_PECE_DEC
    SET_SPR PSSCR, DEEP | 0xb8
    TELL    turn, 1
    ADDRESS 3, before
    mftb    4
    std     4, 0(3)
    stop
    b       .
woken:
    mftb    4
    ADDRESS 3, after
    std     4, 0(3)
    mfspr   14, PSSCR
    srdi    14, 14, 60
    cmpdi   14, 8
    bne     .
    # The decrementer stood still with it.
    mfspr   14, DEC
    cmpdi   14, 0
    ble     .
    li      0, RESYNC_TIMEBASE
    bl      opal_call
    cmpdi   3, 0
    bne     .
    mftb    4
    ADDRESS 3, resynced
    std     4, 0(3)
    TELL    turn, 2
    b       .
