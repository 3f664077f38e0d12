#include "prologue.inc"
#include "radix.inc"
#include "vectors.inc"

.set OPEN, GUEST_ON | MSR_EE | MSR_REST

.macro RING
    SET     10, 0x28000000
    msgsndp 10
.endm

main:
    bl      setup_radix
    STORE   GUEST_PROCESS_TABLE, ROOT | GUEST_PID1_ROOT
    STORE   HOST_PROCESS_TABLE + 16, ROOT | HOST_PID0_ROOT
    INVALIDATE_ALL
    RING
    TO_GUEST 1, forever, OPEN, 0xa00, forever
    DESCRIBED 1
    # It is over.
    TO_HOST_BY_SRR 2, hypercall, OPEN, 0xc00, hypercall_end
    RING
    TO_GUEST 3, forever, OPEN | MSR_PR, 0xa00, forever
    # EE=0 holds it back.
    RING
    TO_HOST_BY_SRR 4, hypercall, GUEST_ON, 0xc00, hypercall_end
    SET_SPR LPCR, LPCR_RADIX | LPCR_AIL3
    TO_GUEST 5, forever, OPEN, 0xa00, forever, 0, MSR_IR | MSR_DR, 3
    # Within the hypervisor it stays there.
    SET_SPR LPCR, LPCR_RADIX
    RING
    TO_HOST_BY_SRR 6, forever, MSR_SF | MSR_HV | MSR_ME | MSR_EE | MSR_RI, 0xa00, forever
    DESCRIBED 6
    PASS

    CODE_OF_VECTORS
