#include "prologue.inc"
#include "radix.inc"

main:
    bl      setup_radix
    SET_SPR LPCR, LPCR_RADIX | LPCR_EVIRT
    IN_GUEST hypervisors, GUEST_REAL
    CHECK   1, 20, 0xe40
    CHECK_ADDRESS 2, 23, hypervisors
    ADDRESS 10, hypervisors
    lwz     10, 0(10)
    mfspr   11, HEIR
    cmpd    10, 11
    beq     1f
    FAIL    3
    # tlbie without GTSE too.
1:  IN_GUEST flush, GUEST_REAL
    CHECK   4, 20, 0xe40
    SET_SPR LPCR, LPCR_RADIX | LPCR_EVIRT | LPCR_GTSE
    IN_GUEST flush, GUEST_REAL
    CHECK   5, 20, 0xc00
    PASS

hypervisors:
    mfspr   10, HFSCR
    sc      1
flush:
    TLBIE   IS_LPID, 0, 0, 1
    SYNC_TLBIE
    sc      1
