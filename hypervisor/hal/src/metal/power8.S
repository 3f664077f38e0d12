# power8.S: what ISA 2.07 does by its own instructions, as macros; power9.S has the same names.

# A vector-scalar register to the record in r3, and back, in the order of ISA 3.0's stxv: in little-endian that is the other
# order of doublewords. r4 is lost.
.macro store_vector register, offset
    li %r4, \offset
    xxpermdi \register, \register, \register, 2
    stxvd2x \register, %r3, %r4
    xxpermdi \register, \register, \register, 2
.endm

.macro load_vector register, offset
    li %r4, \offset
    lxvd2x \register, %r3, %r4
    xxpermdi \register, \register, \register, 2
.endm

# The core's threads share LPIDR, which stays the partition's; LPCR is the same in the hypervisor, where relocation is off.
.macro leave_partition zero, lpcr
.endm

.macro enter_partition scratch
.endm

# No load behind it takes data from a store before it: docs/facts/speculation.md#store-barrier.
.macro store_barrier
    sync
    .long {SPECULATION_BARRIER}
.endm
