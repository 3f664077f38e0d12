#include "prologue.inc"
#include "radix.inc"
#include "vectors.inc"

# 32-bit mode; the macros compare SRR1 with it, and the new MSR with 64-bit mode.
.set NARROW, (GUEST_ON & ~MSR_SF) | MSR_RI

main:
    bl      setup_radix
    STORE   GUEST_L4, 0
    INVALIDATE_ALL
    SET_SPR HFSCR, 3
    # The high half of the operand's address does not count, and DAR shows that.
    SET     13, UNMAPPED | 0x4000000000000000
    TO_GUEST 1, load, NARROW, 0x300, load
    DESCRIBED 1, UNMAPPED + 8, 0x40000000
    TO_GUEST 2, trapping, NARROW | MSR_PR | MSR_EE, 0x700, trapping, 0x20000
    TO_GUEST 3, call, NARROW, 0xc00, call_end
    TO_HOST_BY_SRR 4, hypercall, NARROW, 0xc00, hypercall_end
    SET     13, WINDOW | 0x4000000000000000
    TO_HOST_BY_HSRR 5, load, NARROW, 0xe00, load
    DESCRIBED 5, hdar=WINDOW + 8, hdsisr=0x40000000, asdr=WINDOW
    TO_HOST_BY_HSRR 6, nothing, NARROW, 0xe40, nothing
    PASS

    CODE_OF_VECTORS
