#include "prologue.inc"
#include "threads.inc"
#include "deep.inc"

.set HSPRG1, 305

CELL turn
CELL count

# Thread 0 asks for stop4 twice: while its sibling runs, and while it sleeps at stop5.
main:
    START   1, sibling
    AWAIT   turn, 1
    ON_RESET first
    SET_SPR HSPRG1, 0x66
    SET_SPR LPCR, LPCR_PECE_DEC
    SET_SPR PSSCR, DEEP | 0x74
    SET_SPR DEC, 5000
    stop
    FAIL    1

first:
    mfsrr1  22
    # Only the thread's own registers were lost, and the level is a thread's own.
    CHECK_BITS 2, 22, 0x3f0000, 0x1a0000
    mfspr   14, PSSCR
    srdi    14, 14, 60
    CHECK   3, 14, 1
    CHECK_SPR 4, HSPRG1, 0x66
    ON_RESET second
    TELL    turn, 2
    SET_SPR PSSCR, DEEP | 0x74
    SET_SPR DEC, 50000
    stop
    FAIL    5

second:
    mfspr   14, PIR
    cmpdi   14, 0
    bne     sibling_woken
    mfsrr1  22
    CHECK_BITS 6, 22, 0x3f0000, 0x1b0000
    mfspr   14, PSSCR
    srdi    14, 14, 60
    CHECK   7, 14, 4
    mfspr   14, HSPRG1
    cmpdi   14, 0x66
    bne     1f
    FAIL    8
    # The sibling asked for stop5 and got what the core got; its registers are as lost.
1:  RING    1
    AWAIT   turn, 3
    PASS

sibling:
    SET_SPR HSPRG1, 0x77
    SET_SPR HDEC, 0x7fffffff
    SET_SPR DEC, 0x7fffffff
    TELL    turn, 1
    AWAIT   turn, 2
    SET_SPR LPCR, LPCR_PECE_HDOORBELL
    SET_SPR PSSCR, DEEP | 0x75
    stop
    b       .

sibling_woken:
    mfsrr1  22
    SET     10, 0x3f0000
    and     22, 22, 10
    SET     10, 0x0f0000
    cmpd    22, 10
    bne     .
    mfspr   14, PSSCR
    srdi    14, 14, 60
    cmpdi   14, 4
    bne     .
    mfspr   14, HSPRG1
    cmpdi   14, 0x77
    beq     .
    TELL    turn, 3
    b       .
