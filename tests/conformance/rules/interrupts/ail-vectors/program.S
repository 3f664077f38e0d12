#include "prologue.inc"
#include "radix.inc"
#include "vectors.inc"

.set RELOCATED, MSR_IR | MSR_DR
.set HOST_ON, GUEST_ON | MSR_HV

# Where interrupts arrive with LPCR[AIL] = `ail`, and with which MSR: `after`.
.macro ALL first, ail, after
    SET_SPR LPCR, LPCR_RADIX | (\ail << (63 - 40)) | LPCR_HDICE
    isync
    SET     13, UNMAPPED
    SET     14, NO_SEGMENT
    # The partition's own.
    TO_GUEST \first, load, GUEST_ON, 0x300, load, 0, \after, \ail
    TO_GUEST (\first + 1), load_segment, GUEST_ON, 0x380, load_segment, 0, \after, \ail
    TO_GUEST (\first + 2), UNMAPPED, GUEST_ON, 0x400, UNMAPPED, 0x40000000, \after, \ail
    TO_GUEST (\first + 4), trapping, GUEST_ON, 0x700, trapping, 0x20000, \after, \ail
    TO_GUEST (\first + 5), floating, GUEST_ON, 0x800, floating, 0, \after, \ail
    TO_GUEST (\first + 6), call, GUEST_ON, 0xc00, call_end, 0, \after, \ail
    TO_GUEST (\first + 7), integer_vector, GUEST_ON, 0xf20, integer_vector, 0, \after, \ail
    TO_GUEST (\first + 8), scalar_vector, GUEST_ON, 0xf40, scalar_vector, 0, \after, \ail
    TO_GUEST (\first + 9), vectored, GUEST_ON, 0xf60, vectored, 0, \after, \ail
    SET_SPR DEC, 0xffffffff
    TO_GUEST (\first + 10), forever, GUEST_ON | MSR_EE, 0x900, forever, 0, \after, \ail
    SET_SPR DEC, 0x7fffffff
    # Exits of a radix partition.
    TO_HOST_BY_SRR (\first + 11), hypercall, GUEST_ON, 0xc00, hypercall_end, 0, \after, \ail
    TO_HOST_BY_HSRR (\first + 12), nothing, GUEST_ON, 0xe40, nothing, 0, \after, \ail
    SET     13, WINDOW
    TO_HOST_BY_HSRR (\first + 13), load, GUEST_ON, 0xe00, load, 0, \after, \ail
    TO_HOST_BY_HSRR (\first + 14), WINDOW, GUEST_ON, 0xe20, WINDOW, 0x40000000, \after, \ail
    EXPIRE_HDEC
    TO_HOST_BY_HSRR (\first + 15), forever, GUEST_ON, 0x980, forever, 0, \after, \ail
    SET_SPR HDEC, 0x7fffffff
    # Within the hypervisor.
    TO_HOST_BY_SRR (\first + 16), trapping, HOST_ON, 0x700, trapping, 0x20000, \after, \ail
    TO_HOST_BY_HSRR (\first + 17), nothing, HOST_ON, 0xe40, nothing, 0, \after, \ail
    mfspr   10, PIR
    oris    10, 10, 0x2800
    msgsnd  10
    TO_HOST_BY_HSRR (\first + 18), forever, HOST_ON | MSR_EE, 0xe80, forever, 0, \after, \ail
    # With only one of IR and DR on, and with none.
    TO_GUEST (\first + 19), trapping, GUEST_REAL | MSR_IR, 0x700, trapping, 0x20000
    TO_GUEST (\first + 20), trapping, GUEST_REAL | MSR_DR, 0x700, trapping, 0x20000
    TO_GUEST (\first + 21), trapping, GUEST_REAL, 0x700, trapping, 0x20000
    TO_HOST_BY_HSRR (\first + 22), nothing, GUEST_REAL | MSR_IR, 0xe40, nothing
    TO_HOST_BY_HSRR (\first + 23), nothing, HOST_ON & ~MSR_DR, 0xe40, nothing
.endm

main:
    bl      setup_radix
    STORE   GUEST_L4, 0
    # PID 0 of the partition, for quadrant 3, and PID 1 of the hypervisor, for quadrant 0.
    STORE   GUEST_PROCESS_TABLE, ROOT | GUEST_PID1_ROOT
    STORE   HOST_PROCESS_TABLE + 16, ROOT | HOST_PID0_ROOT
    INVALIDATE_ALL
    SET_SPR HFSCR, 0x1003
    SET_SPR FSCR, 0
    ALL     0x10, 0, 0
    ALL     0x30, 2, RELOCATED
    ALL     0x50, 3, RELOCATED
    PASS

    CODE_OF_VECTORS
