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

# The stub of a system reset, which ends a nap too. It is the end of one if this thread naps, SRR1[46:47] says that it
# did, and SRR1[42:45] has another reason than a system reset that somebody asked for. r12 and CR are free then.
.macro system_reset_stub offset, flags, target
    stub_begins \offset
    std %r11, {R11}(%r13)
    ld %r12, {NAP_STACK}(%r13)
    mfcr %r11
    cmpdi %r12, 0
    beq 1f
    mfspr %r12, {SRR1}
    rlwinm. %r12, %r12, 16, 30, 31
    beq 1f
    mfspr %r12, {SRR1}
    rlwinm %r12, %r12, 14, 28, 31
    cmpdi %r12, {SYSTEM_RESET}
    beq 1f
    b nap_ends                          # too far for a conditional branch
1:  mtcrf 0xFF, %r11
    ld %r11, {R11}(%r13)
    li %r12, 0x100 + \flags
    b \target
.endm

    .set NAP_FRAME, 32 + 18*8

    .text
# hal_nap(): until something ends the nap; SRR1 of the system reset that did.
    .globl hal_nap
    .type hal_nap, @function
hal_nap:
    mflr %r0
    mfcr %r4
    std %r0, 16(%r1)
    std %r4, 8(%r1)
    stdu %r1, -NAP_FRAME(%r1)
    .irp index, 14, 15, 16, 17, 18, 19, 20, 21, 22, 23, 24, 25, 26, 27, 28, 29, 30, 31
    std %r\index, 32 + (\index - 14)*8(%r1)
    .endr
    std %r1, {NAP_STACK}(%r13)
    ptesync                             # all stores are done, and the load behind it too, before it naps
    ld %r0, {NAP_STACK}(%r13)
1:  cmpd %r0, %r0
    bne 1b
    nap
    trap
nap_ends:                               # from the system reset, at a real address; r13 alone is known
    or %r2, %r2, %r2                    # medium priority
    ld %r4, {HOST_MSR}(%r13)
    ld %r1, {NAP_STACK}(%r13)
    ld %r2, {TOC}(%r13)
    li %r0, 0
    std %r0, {NAP_STACK}(%r13)
    mfspr %r3, {SRR1}                   # before mtmsrd, behind which a read waits
    mtmsrd %r4, 0
    .irp index, 14, 15, 16, 17, 18, 19, 20, 21, 22, 23, 24, 25, 26, 27, 28, 29, 30, 31
    ld %r\index, 32 + (\index - 14)*8(%r1)
    .endr
    addi %r1, %r1, NAP_FRAME
    ld %r0, 16(%r1)
    ld %r4, 8(%r1)
    mtlr %r0
    mtcrf 0xFF, %r4
    blr
    .size hal_nap, . - hal_nap
