#include "prologue.inc"
#include "radix.inc"
#include "vectors.inc"

# Addresses that a partition has no segment for: quadrants 1 and 2, and bits 2:11.
.macro REFUSED number, address, msr
    SET     13, \address
    TO_GUEST \number, guest_load, \msr, 0x380, guest_load
    DESCRIBED \number, \address
    TO_GUEST \number, guest_store, \msr, 0x380, guest_store
    DESCRIBED \number, \address
    # A fetch: SRR0 has the address, and nothing else does.
    MARK_REGISTERS
    IN_GUEST guest_fetch, \msr
    TO_HOST
    CHECK   \number, 6, 0x480
    CHECK   \number, 7, \address
    CHECK   \number, 8, \msr
    CHECK   \number, 22, GUEST_REAL
    DESCRIBED \number
.endm

.macro ALL first, msr
    REFUSED \first, 0x4000000000001000, \msr
    REFUSED (\first + 1), 0x8000000000001000, \msr
    REFUSED (\first + 2), 0x0010000000000000, \msr
    REFUSED (\first + 3), 0x2000000000000000, \msr
    REFUSED (\first + 4), 0xc010000000000000, \msr
.endm

main:
    bl      setup_radix
    ALL     0x10, GUEST_ON | MSR_RI
    ALL     0x20, GUEST_ON | MSR_PR | MSR_EE
    PASS
