# power9.S: what ISA 3.0 does by its own instructions, as macros; power8.S has the same names.

# A vector-scalar register to the record in r3, and back.
.macro store_vector register, offset
    stxv \register, \offset(%r3)
.endm

.macro load_vector register, offset
    lxv \register, \offset(%r3)
.endm

# No load behind it takes data from a store before it.
.macro store_barrier
    .long {STORE_BARRIER}
.endm
