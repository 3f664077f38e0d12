# RUNNABLE of THREADS hardware threads work for ROUNDS rounds each; the others sleep. With the prologue of
# the conformance rules.

#include "prologue.inc"
#include "threads.inc"

CELL finished

main:
    li      14, 1
1:  cmpdi   14, THREADS
    bge     2f
    mr      3, 14
    ADDRESS 4, enter
    li      0, START_CPU
    bl      opal_call
    addi    14, 14, 1
    b       1b
2:  b       enter

enter:
    mfspr   14, PIR
    cmpdi   14, RUNNABLE
    bge     sleep
    # Memory of its own.
    sldi    15, 14, 12
    oris    15, 15, 0x1000
    SET     3, ROUNDS
    mtctr   3
1:  ld      4, 0(15)
    add     5, 5, 4
    addi    4, 4, 1
    std     4, 0(15)
    xor     6, 6, 5
    rldicl  6, 6, 7, 0
    cmpd    6, 5
    bdnz    1b
    ADDRESS 3, finished
2:  ldarx   4, 0, 3
    addi    4, 4, 1
    stdcx.  4, 0, 3
    bne     2b
    cmpdi   14, 0
    bne     sleep
    AWAIT   finished, RUNNABLE
    PASS

sleep:
    SET_SPR LPCR, 0
    SET_SPR PSSCR, PSSCR_ESL | PSSCR_EC
    stop
    b       .
