#include "prologue.inc"
#include "radix.inc"
#include "vectors.inc"

# MSR[SE] is saved and gone: the handler is not traced.
.set STATE, GUEST_ON | MSR_REST | MSR_EE | MSR_SE

main:
    bl      setup_radix
    STORE   GUEST_PROCESS_TABLE, ROOT | GUEST_PID1_ROOT
    STORE   HOST_PROCESS_TABLE + 16, ROOT | HOST_PID0_ROOT
    INVALIDATE_ALL
    TO_GUEST 1, stepped, STATE, 0xd00, stepped_end, 0x40000000
    HEIR_IS 1, MARK
    CHECK_SPR 1, HDAR, MARK
    TO_GUEST 2, stepped, STATE | MSR_PR, 0xd00, stepped_end, 0x40000000
    SET_SPR LPCR, LPCR_RADIX | LPCR_AIL3
    TO_GUEST 3, stepped, STATE, 0xd00, stepped_end, 0x40000000, MSR_IR | MSR_DR, 3
    SET_SPR LPCR, LPCR_RADIX
    TO_HOST_BY_SRR 4, stepped, STATE | MSR_HV, 0xd00, stepped_end, 0x40000000
    # An instruction that interrupts is not traced, nor is a system call.
    TO_GUEST 5, trapping, STATE, 0x700, trapping, 0x20000
    TO_GUEST 6, call, STATE, 0xc00, call_end
    TO_HOST_BY_SRR 7, hypercall, STATE, 0xc00, hypercall_end
    PASS

stepped:
    nop
stepped_end:
    b       .
    CODE_OF_VECTORS
