#include "prologue.inc"
#include "radix.inc"
#include "opal.inc"
#include "vectors.inc"

main:
    bl      setup_radix
    STORE   HOST_PROCESS_TABLE + 16, ROOT | HOST_PID0_ROOT
    INVALIDATE_ALL
    OPAL    INT_SET_CPPR, 0xff, 0
    mfspr   3, PIR
    li      4, 4
    li      0, INT_SET_MFRR
    bl      opal_call
    CHECK   1, 3, 0
    SET_SPR DEC, 0x7fffffff
    # It goes on until the controller is asked. A partition cannot hold it back.
    SET_SPR LPCR, LPCR_RADIX | LPCR_HVICE
    TO_HOST_BY_HSRR 2, forever, GUEST_ON | MSR_REST, 0xea0, forever
    DESCRIBED 2
    TO_HOST_BY_HSRR 3, forever, GUEST_ON | MSR_PR | MSR_EE, 0xea0, forever
    SET_SPR LPCR, LPCR_RADIX | LPCR_HVICE | LPCR_AIL3
    TO_HOST_BY_HSRR 4, forever, GUEST_ON | MSR_EE, 0xea0, forever, 0, MSR_IR | MSR_DR, 3
    SET_SPR LPCR, LPCR_RADIX | LPCR_HVICE
    TO_HOST_BY_HSRR 5, forever, MSR_SF | MSR_HV | MSR_ME | MSR_EE | MSR_RI, 0xea0, forever
    # The hypervisor's EE does, and so does HVICE=0.
    TO_HOST_BY_SRR 6, trapping, MSR_SF | MSR_HV | MSR_ME, 0x700, trapping, 0x20000
    SET_SPR LPCR, LPCR_RADIX
    TO_HOST_BY_SRR 7, hypercall, GUEST_ON | MSR_EE, 0xc00, hypercall_end
    PASS

    CODE_OF_VECTORS
