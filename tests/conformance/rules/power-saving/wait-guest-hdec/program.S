#include "prologue.inc"
#include "radix.inc"

main:
    bl      setup_radix
    ON_INTERRUPT limit
    SET_SPR LPCR, LPCR_RADIX | LPCR_HDICE
    SET_SPR HDEC, 1000
    ENTER_GUEST sleeper, GUEST_REAL
limit:
    CHECK   1, 20, 0x980
    CHECK_ADDRESS 2, 23, behind
    PASS

sleeper:
    wait
behind:
    b       .
