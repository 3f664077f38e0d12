#include "prologue.inc"
#include "radix.inc"
#include "vectors.inc"

.set HOST, MSR_SF | MSR_HV | MSR_ME | MSR_DR
.set HOST_FETCH, MSR_SF | MSR_HV | MSR_ME | MSR_IR

# The hypervisor's process table in the third of its pages, of which LPID 0's own tree says `entry`.
.macro REFUSED number, entry, cause
    STORE   HOST_L2 + 16, \entry
    INVALIDATE_ALL
    SET     13, WINDOW
    TO_HOST_BY_SRR \number, guest_load, HOST, 0x300, guest_load
    DESCRIBED \number, WINDOW, 0x00020000 | \cause
    TO_HOST_BY_SRR \number, guest_store, HOST, 0x300, guest_store
    DESCRIBED \number, WINDOW, 0x02020000 | \cause
    TO_HOST_BY_SRR \number, guest_load, HOST_FETCH, 0x400, guest_load, 0x00020000 | \cause
    DESCRIBED \number
.endm

main:
    bl      setup_radix
    STORE   PARTITION_TABLE + 8, 0x80000000
    REFUSED 1, 0, 0x40000000
    REFUSED 2, (PRIVILEGED_LEAF & ~7) | 0x80000000, 0x08000000
    REFUSED 3, (PRIVILEGED_LEAF & ~0x100) | 0x80000000, 0x00040000
    PASS
