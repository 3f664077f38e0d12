#include "prologue.inc"

main:
    # Not without FSCR[SCV].
    SET_SPR FSCR, 0
    ON_INTERRUPT refused
refused_place:
    scv     3
    FAIL    1
refused:
    CHECK   2, 20, 0xf60
    CHECK_ADDRESS 3, 21, refused_place
    mfspr   10, FSCR
    srdi    10, 10, 56
    CHECK   4, 10, 12
    # Level 3 goes to 0x17060: put a branch to `called` there, by way of TAR.
    SET_SPR FSCR, (1 << 12) | (1 << 8)
    lis     3, 1
    ori     3, 3, 0x7060
    ADDRESS 4, stub
    lwz     5, 0(4)
    stw     5, 0(3)
    dcbst   0, 3
    sync
    icbi    0, 3
    isync
    ADDRESS 4, called
    mtspr   TAR, 4
    ON_INTERRUPT unexpected
    mfmsr   11
place:
    scv     3
behind:
    CHECK   5, 10, 99
    mfmsr   12
    cmpd    11, 12
    beq     1f
    FAIL    6
1:  PASS

called:
    mflr    13
    CHECK_ADDRESS 7, 13, behind
    mfctr   14
    cmpd    14, 11
    beq     1f
    FAIL    8
1:  li      10, 99
    rfscv

stub:
    bctar   20, 0
