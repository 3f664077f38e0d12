#include "prologue.inc"
#include "radix.inc"

.set EBBHR, 804
.set PENDING, 0x8000000000000001

.set PROBLEM, GUEST_ON | MSR_PR | MSR_EE

main:
    bl      setup_radix
    ADDRESS 10, handler
    mtspr   EBBHR, 10
    SET_SPR BESCR, PENDING
    # Each of the two.
    SET_SPR HFSCR, 0
    SET_SPR FSCR, 1 << 7
    IN_GUEST calls, PROBLEM
    TO_HOST
    CHECK   1, 6, 0xc00
    CHECK_ADDRESS 2, 7, called
    SET_SPR HFSCR, 1 << 7
    SET_SPR FSCR, 0
    IN_GUEST calls, PROBLEM
    TO_HOST
    CHECK   3, 6, 0xc00
    CHECK_ADDRESS 4, 7, called
    # What they withhold is still there when they do not.
    CHECK_SPR 5, BESCR, PENDING
    SET_SPR FSCR, 1 << 7
    IN_GUEST calls, PROBLEM
    TO_HOST
    CHECK   6, 6, 0xc00
    CHECK_ADDRESS 7, 7, handled
    CHECK_SPR 8, BESCR, 1
    PASS

calls:
    sc
called:
handler:
    sc
handled:
