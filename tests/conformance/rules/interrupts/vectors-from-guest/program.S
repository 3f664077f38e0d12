#include "prologue.inc"
#include "radix.inc"
#include "vectors.inc"

.set KERNEL, GUEST_ON | MSR_REST | MSR_EE
.set PROBLEM, KERNEL | MSR_PR

# The partition's own interrupts from the state `msr`, with no facility in it.
.macro OWN first, msr
    SET     13, UNMAPPED
    SET     14, NO_SEGMENT
    ADDRESS 15, load + 1
    TO_GUEST \first, load, \msr, 0x300, load
    DESCRIBED \first, UNMAPPED + 8, 0x40000000
    HEIR_IS \first, MARK
    TO_GUEST (\first + 1), store, \msr, 0x300, store
    DESCRIBED (\first + 1), UNMAPPED + 8, 0x42000000
    TO_GUEST (\first + 2), load_segment, \msr, 0x380, load_segment
    DESCRIBED (\first + 2), NO_SEGMENT + 8
    TO_GUEST (\first + 3), UNMAPPED, \msr, 0x400, UNMAPPED, 0x40000000
    DESCRIBED (\first + 3)
    TO_GUEST (\first + 4), trapping, \msr, 0x700, trapping, 0x20000
    DESCRIBED (\first + 4)
    HEIR_IS (\first + 4), MARK
    TO_GUEST (\first + 5), floating, \msr, 0x800, floating
    DESCRIBED (\first + 5)
    TO_GUEST (\first + 6), integer_vector, \msr, 0xf20, integer_vector
    DESCRIBED (\first + 6)
    TO_GUEST (\first + 7), scalar_vector, \msr, 0xf40, scalar_vector
    DESCRIBED (\first + 7)
    TO_GUEST (\first + 8), call, \msr, 0xc00, call_end
    DESCRIBED (\first + 8)
    TO_GUEST (\first + 9), vectored, \msr, 0xf60, vectored
    DESCRIBED (\first + 9)
    SET_SPR DEC, 0xffffffff
    TO_GUEST (\first + 10), forever, \msr, 0x900, forever
    SET_SPR DEC, 0x7fffffff
    DESCRIBED (\first + 10)
    # The facilities' bits of the MSR are saved and gone.
    TO_GUEST (\first + 11), trapping, (\msr) | ALL_FACILITIES, 0x700, trapping, 0x20000
.endm

# What goes to the hypervisor.
.macro EXITS first, msr
    TO_HOST_BY_SRR \first, hypercall, \msr, 0xc00, hypercall_end
    DESCRIBED \first
    HEIR_IS \first, MARK
    TO_HOST_BY_HSRR (\first + 1), nothing, \msr, 0xe40, nothing
    DESCRIBED (\first + 1)
    EXPIRE_HDEC
    TO_HOST_BY_HSRR (\first + 2), forever, \msr, 0x980, forever
    DESCRIBED (\first + 2)
    HEIR_IS (\first + 2), MARK
    SET_SPR HDEC, 0x7fffffff
    mfspr   10, PIR
    oris    10, 10, 0x2800
    msgsnd  10
    TO_HOST_BY_HSRR (\first + 3), forever, \msr, 0xe80, forever
    DESCRIBED (\first + 3)
    SET     13, WINDOW
    TO_HOST_BY_HSRR (\first + 4), load, \msr, 0xe00, load
    DESCRIBED (\first + 4), hdar=WINDOW + 8, hdsisr=0x40000000, asdr=WINDOW
    TO_HOST_BY_HSRR (\first + 5), WINDOW, \msr, 0xe20, WINDOW, 0x40000000
    DESCRIBED (\first + 5), asdr=WINDOW
.endm

main:
    bl      setup_radix
    STORE   GUEST_L4, 0
    INVALIDATE_ALL
    SET_SPR LPCR, LPCR_RADIX | LPCR_HDICE
    SET_SPR HFSCR, 0x1003
    SET_SPR FSCR, 0
    OWN     0x10, KERNEL
    OWN     0x20, PROBLEM
    EXITS   0x40, KERNEL
    EXITS   0x50, PROBLEM
    TO_GUEST 0x30, privileged, PROBLEM, 0x700, privileged, 0x40000
    PASS

    CODE_OF_VECTORS
