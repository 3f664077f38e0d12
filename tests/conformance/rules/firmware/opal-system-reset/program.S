#include "prologue.inc"
#include "opal.inc"
#include "threads.inc"
#include "deep.inc"

CELL turn
CELL status

.macro EXPECT number, value
    AWAIT   turn, \number
    ADDRESS 14, status
    ld      14, 0(14)
    CHECK   \number, 14, \value
.endm

main:
    ON_RESET reset
    OPAL    SIGNAL_SYSTEM_RESET, 77, 0
    CHECK   0x10, 3, -1
    OPAL    SIGNAL_SYSTEM_RESET, -1, 0
    CHECK   0x11, 3, -4
    OPAL    SIGNAL_SYSTEM_RESET, 0, 0
    CHECK   0x12, 3, -1
    START   4, runner
    # It runs with EE=0: SRR1[42:45] is 2 and nothing says that it slept.
    AWAIT   turn, 1
    OPAL    SIGNAL_SYSTEM_RESET, 4, 0
    CHECK   0x13, 3, 0
    EXPECT  2, 0x080000
    # It sleeps with EC=0: reason 4, nothing lost.
    OPAL    SIGNAL_SYSTEM_RESET, 4, 0
    EXPECT  3, 0x110000
    # It sleeps with ESL=EC=1 and no reason to wake: reason 4, the thread's registers lost.
    OPAL    SIGNAL_SYSTEM_RESET, 4, 0
    EXPECT  4, 0x120000
    # It sleeps at level 5.
    OPAL    SIGNAL_SYSTEM_RESET, 4, 0
    EXPECT  5, 0x130000
    PASS

runner:
    SET_SPR DEC, 0x7fffffff
    SET_SPR HDEC, 0x7fffffff
    SET_SPR LPCR, 0
    TELL    turn, 1
    b       .

reset:
    mfsrr1  22
    SET     10, 0x3f0000
    and     22, 22, 10
    ADDRESS 10, status
    std     22, 0(10)
    ADDRESS 10, turn
    ld      11, 0(10)
    addi    11, 11, 1
    std     11, 0(10)
    cmpdi   11, 2
    beq     2f
    cmpdi   11, 3
    beq     3f
    cmpdi   11, 4
    beq     4f
    b       .
2:  SET_SPR PSSCR, 0
    b       5f
3:  SET_SPR PSSCR, PSSCR_ESL | PSSCR_EC
    b       5f
4:  SET_SPR PSSCR, DEEP | 0x75
5:  stop
    b       .
