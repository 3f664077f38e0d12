# power9.S: what ISA 3.0 does by its own instructions, as macros; power8.S has the same names.

# A vector-scalar register to the record in r3, and back.
.macro store_vector register, offset
    stxv \register, \offset(%r3)
.endm

.macro load_vector register, offset
    lxv \register, \offset(%r3)
.endm

# Of a partition with a hashed page table: relocation is off, and on when this ends by mtmsrd.
.macro leave_partition zero, lpcr
    li \zero, 0
    ld \lpcr, {OWN_LPCR}(%r13)
    sync                                # no store of the partition drains under another LPID
    isync
    mtspr {LPIDR}, \zero
    mtspr {LPCR}, \lpcr
.endm

# Back into it: relocation is on, and goes off.
.macro enter_partition scratch
    ld \scratch, {REAL_MSR}(%r13)
    mtmsrd \scratch, 0
    ld \scratch, {GUEST_LPID}(%r13)
    sync
    isync
    mtspr {LPIDR}, \scratch
    ld \scratch, {GUEST_LPCR}(%r13)
    mtspr {LPCR}, \scratch
.endm

# No load behind it takes data from a store before it.
.macro store_barrier
    .long {STORE_BARRIER}
.endm

# The stub of a system reset: none ends a `stop` with EC=0.
.macro system_reset_stub offset, flags, target
    door_stub \offset, 0x100, \flags, \target
.endm
