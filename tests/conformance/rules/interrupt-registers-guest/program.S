#include "prologue.inc"
#include "radix.inc"

.set ON, GUEST_ON | MSR_RI
.set UNMAPPED, 0x50000000

# The partition's `code` takes an interrupt of its own; the call that brings it back shows the MSR it had.
.macro OWN number, code, msr, vector, saved, status
    SET_SPR DAR, 0x77
    SET_SPR DSISR, 0x77
    SET     13, UNMAPPED
    SET     14, 0x4000000000000000
    IN_GUEST \code, \msr
    TO_HOST
    CHECK   \number, 6, \vector
    CHECK_ADDRESS \number, 7, \saved
    CHECK   \number, 8, (\msr) | (\status)
    CHECK   \number, 22, GUEST_REAL
.endm

main:
    bl      setup_radix
    SET_SPR HFSCR, 3
    OWN     1, load, ON, 0x300, load, 0
    CHECK_SPR 2, DAR, UNMAPPED + 8
    CHECK_SPR 3, DSISR, 0x40000000
    OWN     4, store, ON, 0x300, store, 0
    CHECK_SPR 5, DAR, UNMAPPED + 8
    CHECK_SPR 6, DSISR, 0x42000000
    OWN     7, segment, ON, 0x380, segment, 0
    CHECK_SPR 8, DAR, 0x4000000000000008
    CHECK_SPR 9, DSISR, 0x77
    OWN     10, UNMAPPED, ON, 0x400, UNMAPPED, 0x40000000
    CHECK_SPR 11, DAR, 0x77
    CHECK_SPR 12, DSISR, 0x77
    OWN     13, trapping, ON, 0x700, trapping, 0x20000
    OWN     14, floating, ON, 0x800, floating, 0
    OWN     15, call, ON, 0xc00, call_end, 0
    SET_SPR DEC, 0xffffffff
    OWN     16, forever, ON | MSR_EE, 0x900, forever, 0
    PASS

load:
    ld      10, 8(13)
store:
    std     10, 8(13)
segment:
    ld      10, 8(14)
trapping:
    trap
floating:
    fmr     1, 2
call:
    sc      0
call_end:
forever:
    b       forever
