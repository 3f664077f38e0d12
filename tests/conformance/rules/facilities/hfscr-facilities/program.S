#include "prologue.inc"
#include "radix.inc"

# The partition executes the instruction `code`; HFSCR withholds everything.
.macro WITHHELD number, code, cause
    SET_SPR HFSCR, 0
    IN_GUEST \code, GUEST_REAL | MSR_FP | MSR_TM
    CHECK   \number, 20, 0xf80
    CHECK_ADDRESS \number, 23, \code
    CHECK_SPR \number, HFSCR, \cause << 56
    # With the facility's bit it works.
    SET_SPR HFSCR, 1 << \cause
    IN_GUEST \code, GUEST_REAL | MSR_FP | MSR_TM
    CHECK   \number, 20, 0xc00
.endm

main:
    bl      setup_radix
    SET_SPR FSCR, 1 << 12
    WITHHELD 1, floating_point, 0
    WITHHELD 2, stream_control, 2
    WITHHELD 3, monitor, 3
    WITHHELD 4, history, 4
    WITHHELD 5, transaction, 5
    WITHHELD 6, event_branch, 7
    WITHHELD 7, target, 8
    WITHHELD 9, doorbell, 10
    # Vectors are not modelled: with the facility's bit it is the MSR that refuses.
    SET_SPR HFSCR, 0
    IN_GUEST vector, GUEST_REAL | MSR_VEC
    CHECK   10, 20, 0xf80
    CHECK_ADDRESS 10, 23, vector
    CHECK_SPR 10, HFSCR, 1 << 56
    IN_GUEST vector_scalar, GUEST_REAL
    CHECK   11, 20, 0xf80
    CHECK_ADDRESS 11, 23, vector_scalar
    CHECK_SPR 11, HFSCR, 1 << 56
    SET_SPR HFSCR, 1 << 1
    IN_GUEST vector, GUEST_REAL
    TO_HOST
    CHECK   12, 6, 0xf20
    CHECK_ADDRESS 12, 7, vector
    IN_GUEST vector_scalar, GUEST_REAL
    TO_HOST
    CHECK   13, 6, 0xf40
    CHECK_ADDRESS 13, 7, vector_scalar
    # scv: FSCR alone is asked. With its bit it goes to a door of the partition's own.
    SET_SPR HFSCR, 0
    SET_SPR FSCR, 0
    IN_GUEST vectored, GUEST_REAL
    TO_HOST
    CHECK   15, 6, 0xf60
    CHECK_ADDRESS 15, 7, vectored
    # The hypervisor is not asked.
    SET_SPR HFSCR, 0
    mfspr   10, TAR
    PASS

floating_point:
    fmr     1, 2
    sc      1
stream_control:
    mfspr   10, 17
    sc      1
monitor:
    mfspr   10, 795
    sc      1
history:
    clrbhrb
    sc      1
transaction:
    tbegin.
    sc      1
event_branch:
    mfspr   10, BESCR
    sc      1
target:
    mfspr   10, TAR
    sc      1
vector:
    vxor    0, 1, 2
    sc      1
vector_scalar:
    xxlor   0, 1, 2
    sc      1
vectored:
    scv     0
doorbell:
    msgclrp 0
    sc      1
