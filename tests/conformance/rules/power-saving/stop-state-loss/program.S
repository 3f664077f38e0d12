#include "prologue.inc"

main:
    ON_INTERRUPT woken
    SET_SPR LPCR, LPCR_PECE_DEC
    SET_SPR PSSCR, PSSCR_ESL | PSSCR_EC | 2
    SET_SPR DEC, 5000
    li      10, 77
    mtlr    10
    stop
    FAIL    1

woken:
    # SRR1[46:47] = 2: the thread's own state was lost, the hypervisor's was not.
    CHECK_BITS 2, 22, 0x30000, 0x20000
    cmpdi   10, 77
    bne     1f
    FAIL    3
1:  mflr    10
    cmpdi   10, 77
    bne     2f
    FAIL    4
2:  mfspr   10, PSSCR
    srdi    10, 10, 60
    CHECK   5, 10, 2
    CHECK_SPR 6, LPCR, LPCR_PECE_DEC
    PASS
