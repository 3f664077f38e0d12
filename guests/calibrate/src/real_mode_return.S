# real_mode_return.S: a system call that is answered at once in real mode, with what KVM's real-mode handlers
# save and restore on the way: every GPR, LR, CTR, XER, CR, CFAR, PPR, SRR0/1 read and HSRR0/1 written, a test
# of the call number against a bitmap, and a handler from a table of offsets
# (`docs/facts/kvm-exit.md#real-mode-return`).
#
# The handler runs at 0xC00, where boot has nothing else. r13 is found in HSPRG0 as an interrupt handler finds
# it: there the thread's area begins, with the vCPU's behind it.

    .set HSPRG0, 304
    .set SRR0, 26
    .set SRR1, 27
    .set PPR, 896
    .set THREAD_AREA, SCRATCH
    .set VCPU, 0x1000                   # from the thread's area
    .set VCPU_LR, 256
    .set VCPU_CTR, 264
    .set VCPU_XER, 272
    .set VCPU_CR, 280
    .set VCPU_CFAR, 288
    .set VCPU_PPR, 296
    .set VCPU_PC, 304
    .set VCPU_MSR, 312
    .set VCPU_TRAP, 320
    .set VCPU_ENABLED, 328              # bitmap of calls
    .set VCPU_HANDLERS, 512             # offsets from the handler's start

    .macro gpr_range operation, first, last, base
    .set gpr, \first
    .rept \last - \first + 1
    \operation gpr, gpr * 8(\base)
    .set gpr, gpr + 1
    .endr
    .endm

    .section .cases, "ax"
    .balign 128
real_mode_handler:
    mtspr HSPRG1, %r13
    mfspr %r13, HSPRG0
    std %r9, 0(%r13)
    std %r10, 8(%r13)
    mfspr %r10, PPR
    std %r10, 16(%r13)
    mfspr %r10, CFAR
    std %r10, 24(%r13)
    std %r11, 32(%r13)
    std %r12, 40(%r13)
    lbz %r10, 48(%r13)                  # does the thread run a guest?
    cmpdi %r10, 0
    bne 1f
    mfcr %r12
    addi %r9, %r13, VCPU
    gpr_range std, 0, 8, %r9
    ld %r3, 0(%r13)
    ld %r4, 8(%r13)
    ld %r5, 32(%r13)
    ld %r6, 40(%r13)
    std %r3, 9 * 8(%r9)
    std %r4, 10 * 8(%r9)
    std %r5, 11 * 8(%r9)
    std %r6, 12 * 8(%r9)
    mfspr %r3, HSPRG1
    std %r3, 13 * 8(%r9)
    gpr_range std, 14, 31, %r9
    mflr %r4
    mfctr %r5
    mfxer %r6
    std %r4, VCPU_LR(%r9)
    std %r5, VCPU_CTR(%r9)
    std %r6, VCPU_XER(%r9)
    stw %r12, VCPU_CR(%r9)
    ld %r3, 24(%r13)
    ld %r4, 16(%r13)
    std %r3, VCPU_CFAR(%r9)
    std %r4, VCPU_PPR(%r9)
    mfspr %r10, SRR0
    mfspr %r11, SRR1
    std %r10, VCPU_PC(%r9)
    std %r11, VCPU_MSR(%r9)
    li %r12, 0xC00
    stw %r12, VCPU_TRAP(%r9)
    # The call: from a kernel, in the table, enabled, with a handler.
    ld %r3, 3 * 8(%r9)
    andi. %r0, %r11, 0x4000
    bne 1f
    clrrdi %r3, %r3, 2
    cmpldi %r3, 64
    bge 1f
    ld %r4, VCPU_ENABLED(%r9)
    srdi %r5, %r3, 2
    srd %r4, %r4, %r5
    andi. %r4, %r4, 1
    beq 1f
    addi %r4, %r9, VCPU_HANDLERS
    lwax %r3, %r3, %r4
    cmpdi %r3, 0
    beq 1f
    add %r3, %r3, %r4
    mtctr %r3
    mr %r3, %r9
    ld %r4, 4 * 8(%r9)
    bctrl
    cmpdi %r3, 9999
    beq 1f
    addi %r4, %r13, VCPU
    std %r3, 3 * 8(%r4)
    ld %r10, VCPU_PC(%r4)
    ld %r11, VCPU_MSR(%r4)
    # And back.
    li %r9, 0
    stb %r9, 48(%r13)
    mtspr HSRR0, %r10
    mtspr HSRR1, %r11
    ld %r5, VCPU_CFAR(%r4)
    mtspr CFAR, %r5
    ld %r0, VCPU_PPR(%r4)
    ld %r5, VCPU_LR(%r4)
    ld %r6, VCPU_CTR(%r4)
    ld %r7, VCPU_XER(%r4)
    lwz %r8, VCPU_CR(%r4)
    mtlr %r5
    mtctr %r6
    mtxer %r7
    mtcr %r8
    gpr_range ld, 14, 31, %r4
    gpr_range ld, 5, 13, %r4
    gpr_range ld, 1, 3, %r4
    mtspr PPR, %r0
    ld %r0, 0(%r4)
    ld %r4, 4 * 8(%r4)
    hrfid
1:  trap
real_mode_handler_end:

    # One call of a guest that has nothing else to do.
    case real_mode_return, 400, 1
    load_constant %r3, THREAD_AREA
    mtspr HSPRG0, %r3
    li %r4, 0
    stb %r4, 48(%r3)
    addi %r3, %r3, VCPU
    li %r4, -1
    std %r4, VCPU_ENABLED(%r3)
    address_of %r4, real_mode_answer
    addi %r5, %r3, VCPU_HANDLERS
    sub %r4, %r4, %r5
    stw %r4, 16(%r5)
    address_of %r4, real_mode_handler   # to 0xC00
    address_of %r5, real_mode_handler_end
    sub %r5, %r5, %r4
    srdi %r5, %r5, 2
    mtctr %r5
    addi %r4, %r4, -4
    li %r6, 0xC00 - 4
1:  lwzu %r7, 4(%r4)
    stwu %r7, 4(%r6)
    bdnz 1b
    sync
    icbi 0, %r6
    isync
    measured
    li %r3, 16
    sc 1
    end_case

    .balign 32
real_mode_answer:
    li %r3, 0
    blr
