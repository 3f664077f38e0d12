#include "prologue.inc"
#include "radix.inc"

.set PROBLEM, GUEST_ON | MSR_PR | MSR_EE

.macro REFUSED number, code, cause
    SET_SPR FSCR, 0
    IN_GUEST \code, PROBLEM
    TO_HOST
    CHECK   \number, 6, 0xf60
    CHECK_ADDRESS \number, 7, \code
    CHECK_SPR \number, FSCR, \cause << 56
    SET_SPR FSCR, 1 << \cause
    IN_GUEST \code, PROBLEM
    TO_HOST
    # Behind it, a privileged instruction.
    CHECK   \number, 6, 0x700
.endm

main:
    bl      setup_radix
    SET_SPR HFSCR, 0xffff
    REFUSED 1, stream_control, 2
    REFUSED 2, event_branch, 7
    REFUSED 3, target, 8
    PASS

stream_control:
    mfspr   10, 3
    mfmsr   10
event_branch:
    mfspr   10, BESCR
    mfmsr   10
target:
    mfspr   10, TAR
    mfmsr   10
