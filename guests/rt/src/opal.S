# opal.S: rt_opal_call(three arguments, token, OPAL base, OPAL entry) -> status.
#
# OPAL wants big-endian real mode with interrupts off and returns by blr in that state, so the first words at the return
# address are byte-swapped. It keeps r1 and r13-r31.

    .set OPAL_FRAME, 32 + 2*8

    .text
    .globl rt_opal_call
    .type rt_opal_call, @function
rt_opal_call:
    mflr %r0
    mfcr %r12
    std %r0, 16(%r1)
    stw %r12, 8(%r1)
    std %r2, 24(%r1)
    stdu %r1, -OPAL_FRAME(%r1)
    std %r14, 32(%r1)
    std %r15, 40(%r1)
    mfmsr %r14
    li %r0, 0
    mtmsrd %r0, 1                       # EE and RI off: from here on HSRR0 and HSRR1 are ours
    bcl 20, 31, 1f
1:  mflr %r10
    addi %r15, %r10, opal_native - 1b
    addi %r10, %r10, opal_return - 1b
    mtlr %r10
    li %r10, {IR_DR_LE}
    andc %r10, %r14, %r10
    rldicl %r10, %r10, 48, 1            # EE off
    rotldi %r10, %r10, 16
    mtspr {HSRR0}, %r8
    mtspr {HSRR1}, %r10
    mr %r0, %r6
    mr %r2, %r7
    hrfid
opal_return:
    .long 0xa64bfa7d                    # mtspr HSRR0, r15
    .long 0xa64bdb7d                    # mtspr HSRR1, r14
    .long 0x2402004c                    # hrfid
opal_native:
    ld %r14, 32(%r1)
    ld %r15, 40(%r1)
    addi %r1, %r1, OPAL_FRAME
    ld %r0, 16(%r1)
    lwz %r12, 8(%r1)
    ld %r2, 24(%r1)
    mtlr %r0
    mtcrf 0xFF, %r12
    blr
    .size rt_opal_call, . - rt_opal_call
