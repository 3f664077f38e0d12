# opal.S: hal_opal_call(argument 1..7 in r3-r9, token in r10) -> status in r3.
#
# OPAL wants big-endian real mode with EE=0 and returns by blr in that state, so the first words at
# the return address are byte-swapped. It keeps r1 and r13-r31 and loses SRR0/1 and HSRR0/1, which
# during an exit hold the guest's return: they are kept here, with HSPRG1 (the guest's r13).

    .set FRAME, 32 + 8*8

    .text
    .globl hal_opal_call
    .type hal_opal_call, @function
hal_opal_call:
    mflr %r0
    mfcr %r12
    std %r0, 16(%r1)
    stw %r12, 8(%r1)
    stdu %r1, -FRAME(%r1)
    std %r14, 32(%r1)
    std %r15, 40(%r1)
    std %r16, 48(%r1)
    std %r17, 56(%r1)
    std %r18, 64(%r1)
    std %r19, 72(%r1)
    std %r20, 80(%r1)
    mfspr %r14, {SRR0}
    mfspr %r15, {SRR1}
    mfspr %r16, {HSRR0}
    mfspr %r17, {HSRR1}
    mfspr %r20, {HSPRG1}
    mfmsr %r18
    addis %r19, %r2, opal_native@toc@ha
    addi %r19, %r19, opal_native@toc@l
    addis %r12, %r2, opal_return@toc@ha
    addi %r12, %r12, opal_return@toc@l
    mtlr %r12
    mr %r0, %r10
    ld %r12, {OPAL_ENTRY}(%r13)
    ld %r2, {OPAL_BASE}(%r13)
    li %r11, 0x31                       # MSR IR, DR and LE; EE is never set here
    andc %r11, %r18, %r11
    mtspr {HSRR0}, %r12
    mtspr {HSRR1}, %r11
    hrfid
opal_return:
    .long 0xa64b7a7e                    # mtspr HSRR0, r19
    .long 0xa64b5b7e                    # mtspr HSRR1, r18
    .long 0x2402004c                    # hrfid
opal_native:
    mtspr {SRR0}, %r14
    mtspr {SRR1}, %r15
    mtspr {HSRR0}, %r16
    mtspr {HSRR1}, %r17
    mtspr {HSPRG1}, %r20
    ld %r2, {TOC}(%r13)
    ld %r14, 32(%r1)
    ld %r15, 40(%r1)
    ld %r16, 48(%r1)
    ld %r17, 56(%r1)
    ld %r18, 64(%r1)
    ld %r19, 72(%r1)
    ld %r20, 80(%r1)
    addi %r1, %r1, FRAME
    lwz %r12, 8(%r1)
    ld %r0, 16(%r1)
    mtcrf 0x38, %r12
    mtlr %r0
    blr
    .size hal_opal_call, . - hal_opal_call
