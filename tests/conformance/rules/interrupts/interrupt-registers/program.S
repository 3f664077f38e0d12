#include "prologue.inc"

.set ON, MSR_SF | MSR_HV | MSR_ME | MSR_RI
.set AFTER, MSR_SF | MSR_HV | MSR_ME
.set MARK, 0x5a5a5a58

# `code` with `msr` interrupts at `vector` and saves `saved` and `status` in SRR0 and SRR1.
.macro PLAIN number, code, msr, vector, saved, status
    ON_INTERRUPT .Lplain\@
    RETURN_TO \code, \msr
.Lplain\@:
    mfmsr   10
    CHECK   \number, 20, \vector
    CHECK_ADDRESS \number, 21, \saved
    CHECK   \number, 22, (\msr) | (\status)
    CHECK   \number, 10, AFTER
    # What `RETURN_TO` left there.
    CHECK_ADDRESS \number, 23, \code
    CHECK   \number, 24, \msr
.endm

# The same in HSRR0 and HSRR1; RI stays.
.macro HYPERVISORS number, code, msr, vector, saved, status
    ON_INTERRUPT .Lhypervisors\@
    SET     10, MARK
    mtsrr0  10
    mtsrr1  10
    RETURN_TO \code, \msr
.Lhypervisors\@:
    mfmsr   10
    CHECK   \number, 20, \vector
    CHECK_ADDRESS \number, 23, \saved
    CHECK   \number, 24, (\msr) | (\status)
    CHECK   \number, 10, AFTER | MSR_RI
    CHECK   \number, 21, MARK
    CHECK   \number, 22, MARK
.endm

main:
    SET_SPR FSCR, 0
    PLAIN   1, trapping, ON, 0x700, trapping, 0x20000
    PLAIN   2, floating, ON, 0x800, floating, 0
    PLAIN   3, integer_vector, ON, 0xf20, integer_vector, 0
    PLAIN   4, scalar_vector, ON, 0xf40, scalar_vector, 0
    PLAIN   5, call, ON, 0xc00, call_end, 0
    PLAIN   6, hypercall, ON, 0xc00, hypercall_end, 0
    PLAIN   7, vectored, ON, 0xf60, vectored, 0
    CHECK_SPR 8, FSCR, 12 << 56
    SET_SPR DEC, 0xffffffff
    PLAIN   9, forever, ON | MSR_EE, 0x900, forever, 0
    SET_SPR DEC, 0x7fffffff
    # (QEMU 7.2 has no HEIR; other rules look at it.)
    HYPERVISORS 10, nothing, ON, 0xe40, nothing, 0
    SET     10, 0x28000000
    msgsnd  10
    HYPERVISORS 11, forever, ON | MSR_EE, 0xe80, forever, 0
    EXPIRE_HDEC
    SET_SPR LPCR, LPCR_HDICE
    HYPERVISORS 12, forever, ON | MSR_EE, 0x980, forever, 0
    PASS

trapping:
    trap
floating:
    fmr     1, 2
integer_vector:
    vxor    0, 1, 2
scalar_vector:
    xxlor   0, 1, 2
call:
    sc      0
call_end:
hypercall:
    sc      1
hypercall_end:
vectored:
    scv     0
forever:
    b       forever
nothing:
    .long   0x14
