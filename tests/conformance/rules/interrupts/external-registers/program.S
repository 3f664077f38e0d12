#include "prologue.inc"
#include "radix.inc"
#include "vectors.inc"

.set OPEN, GUEST_ON | MSR_EE | MSR_REST

main:
    bl      setup_radix
    STORE   GUEST_PROCESS_TABLE, ROOT | GUEST_PID1_ROOT
    STORE   HOST_PROCESS_TABLE + 16, ROOT | HOST_PID0_ROOT
    INVALIDATE_ALL
    # LPES=0: HSRR0, HSRR1, with bit 42 for the mediated request, and RI stays.
    SET_SPR LPCR, LPCR_RADIX | LPCR_MER
    TO_HOST_BY_HSRR 1, forever, OPEN, 0x500, forever, 0x200000
    DESCRIBED 1
    TO_HOST_BY_HSRR 2, forever, OPEN | MSR_PR, 0x500, forever, 0x200000
    # LPES=1: SRR0, SRR1 without it, in the partition.
    SET_SPR LPCR, LPCR_RADIX | LPCR_MER | LPCR_LPES
    TO_GUEST 3, forever, OPEN, 0x500, forever
    DESCRIBED 3
    TO_GUEST 4, forever, OPEN | MSR_PR, 0x500, forever
    SET_SPR LPCR, LPCR_RADIX | LPCR_MER | LPCR_LPES | LPCR_AIL3
    TO_GUEST 5, forever, OPEN, 0x500, forever, 0, MSR_IR | MSR_DR, 3
    SET_SPR LPCR, LPCR_RADIX | LPCR_MER | LPCR_AIL3
    TO_HOST_BY_HSRR 6, forever, OPEN, 0x500, forever, 0x200000, MSR_IR | MSR_DR, 3
    # A partition's EE=0 holds it back, whoever it belongs to.
    SET_SPR LPCR, LPCR_RADIX | LPCR_MER
    TO_HOST_BY_SRR 7, hypercall, GUEST_ON, 0xc00, hypercall_end
    PASS

    CODE_OF_VECTORS
