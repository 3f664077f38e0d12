#include "prologue.inc"
#include "opal.inc"
#include "threads.inc"

CELL turn

main:
    START   4, sleeper
    AWAIT   turn, 1
    lis     3, 1
    mtctr   3
1:  bdnz    1b
    # The other thread's request, from here.
    OPAL    INT_SET_MFRR, 4, 4
    AWAIT   turn, 2
    PASS

sleeper:
    SET_SPR DEC, 0x7fffffff
    SET_SPR HDEC, 0x7fffffff
    OPAL    INT_SET_CPPR, 0xff, 0
    ON_INTERRUPT woken
    SET_SPR LPCR, LPCR_PECE_HVI | LPCR_HVICE | LPCR_HEIC
    SET_SPR PSSCR, PSSCR_ESL | PSSCR_EC
    TELL    turn, 1
    stop
    b       .
woken:
    cmpdi   20, 0x100
    bne     .
    # SRR1[42:45]: a hypervisor virtualization interrupt.
    SET     10, 0x3c0000
    and     11, 22, 10
    SET     12, 0x240000
    cmpd    11, 12
    bne     .
    TELL    turn, 2
    b       .
