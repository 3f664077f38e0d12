#include "prologue.inc"
#include "threads.inc"

CELL count

# 8 cores of 4 threads: PIR = core << 2 | thread. Each counts itself and sleeps; then each is rung.
main:
    li      14, 1
1:  mr      3, 14
    ADDRESS 4, sleeper
    li      0, START_CPU
    bl      opal_call
    CHECK   1, 3, 0
    addi    14, 14, 1
    cmpdi   14, 32
    blt     1b
    AWAIT   count, 31
    li      14, 1
2:  SET     11, 0x28000000
    or      11, 11, 14
    msgsnd  11
    addi    14, 14, 1
    cmpdi   14, 32
    blt     2b
    AWAIT   count, 62
    # None of them woke for anything else.
    lis     3, 1
    mtctr   3
3:  bdnz    3b
    ADDRESS 14, count
    ld      14, 0(14)
    CHECK   2, 14, 62
    PASS

add_one:
    ADDRESS 4, count
1:  ldarx   5, 0, 4
    addi    5, 5, 1
    stdcx.  5, 0, 4
    bne     1b
    blr

sleeper:
    SET_SPR DEC, 0x7fffffff
    SET_SPR HDEC, 0x7fffffff
    ON_INTERRUPT woken
    SET_SPR LPCR, LPCR_PECE_HDOORBELL
    SET_SPR PSSCR, PSSCR_ESL | PSSCR_EC
    bl      add_one
    stop
    b       .
woken:
    bl      add_one
    SET     4, 0x28000000
    msgclr  4
    stop
    b       .
