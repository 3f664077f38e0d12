#include "prologue.inc"
#include "radix.inc"
#include "vectors.inc"

# The hypervisor's own kernel and problem state, with relocation on: quadrant 0, PID 1.
.set KERNEL, GUEST_ON | MSR_HV | MSR_REST | MSR_EE
.set PROBLEM, KERNEL | MSR_PR

.macro ALL first, msr
    SET     13, UNMAPPED
    SET     14, 0x0010000000000000
    ADDRESS 15, load + 1
    TO_HOST_BY_SRR \first, load, \msr, 0x300, load
    DESCRIBED \first, UNMAPPED + 8, 0x40000000
    HEIR_IS \first, MARK
    TO_HOST_BY_SRR (\first + 1), store, \msr, 0x300, store
    DESCRIBED (\first + 1), UNMAPPED + 8, 0x42000000
    # In the hypervisor every quadrant is one of somebody's; bits 2:11 have to be 0.
    TO_HOST_BY_SRR (\first + 2), load_segment, \msr, 0x380, load_segment
    DESCRIBED (\first + 2), 0x0010000000000008
    TO_HOST_BY_SRR (\first + 3), UNMAPPED, \msr, 0x400, UNMAPPED, 0x40000000
    DESCRIBED (\first + 3)
    TO_HOST_BY_SRR (\first + 4), misaligned, \msr, 0x600, misaligned
    CHECK_SPR (\first + 4), HDAR, MARK
    CHECK_SPR (\first + 4), HDSISR, MARK
    TO_HOST_BY_SRR (\first + 5), trapping, \msr, 0x700, trapping, 0x20000
    DESCRIBED (\first + 5)
    TO_HOST_BY_SRR (\first + 6), floating, \msr, 0x800, floating
    DESCRIBED (\first + 6)
    TO_HOST_BY_SRR (\first + 7), integer_vector, \msr, 0xf20, integer_vector
    DESCRIBED (\first + 7)
    TO_HOST_BY_SRR (\first + 8), scalar_vector, \msr, 0xf40, scalar_vector
    DESCRIBED (\first + 8)
    TO_HOST_BY_SRR (\first + 9), call, \msr, 0xc00, call_end
    DESCRIBED (\first + 9)
    TO_HOST_BY_SRR (\first + 10), hypercall, \msr, 0xc00, hypercall_end
    TO_HOST_BY_SRR (\first + 11), vectored, \msr, 0xf60, vectored
    DESCRIBED (\first + 11)
    TO_HOST_BY_HSRR (\first + 12), nothing, \msr, 0xe40, nothing
    DESCRIBED (\first + 12)
    SET_SPR DEC, 0xffffffff
    TO_HOST_BY_SRR (\first + 13), forever, \msr, 0x900, forever
    SET_SPR DEC, 0x7fffffff
    DESCRIBED (\first + 13)
    EXPIRE_HDEC
    TO_HOST_BY_HSRR (\first + 14), forever, \msr, 0x980, forever
    SET_SPR HDEC, 0x7fffffff
    DESCRIBED (\first + 14)
    mfspr   10, PIR
    oris    10, 10, 0x2800
    msgsnd  10
    TO_HOST_BY_HSRR (\first + 15), forever, \msr, 0xe80, forever
    DESCRIBED (\first + 15)
    TO_HOST_BY_SRR (\first + 16), trapping, (\msr) | ALL_FACILITIES, 0x700, trapping, 0x20000
.endm

main:
    bl      setup_radix
    STORE   HOST_PROCESS_TABLE + 16, ROOT | GUEST_PID1_ROOT
    INVALIDATE_ALL
    SET_SPR LPCR, LPCR_RADIX | LPCR_HDICE
    SET_SPR FSCR, 0
    ALL     0x10, KERNEL
    ALL     0x30, PROBLEM
    TO_HOST_BY_SRR 0x50, privileged, PROBLEM, 0x700, privileged, 0x40000
    DESCRIBED 0x50
    PASS

    CODE_OF_VECTORS
