# real_mode_return.S: a system call that is answered at once in real mode, step by step what KVM of Linux 5.12 does
# for one (the vector of System Call, the interrupt path, the real-mode call table, the fast return): the volatile
# registers are saved and restored, r14-r31 are left alone (`docs/facts/kvm-exit.md#real-mode-return`).
#
# The handler runs at 0xC00, where boot has nothing else. HSPRG0 has the thread's area; a doubleword there is the
# address of the vCPU's.

    .set HSPRG0, 304
    .set SRR0, 26
    .set SRR1, 27
    .set PPR, 896
    .set THREAD_AREA, SCRATCH
    .set VCPU, THREAD_AREA + 0x1000
    # In the thread's area.
    .set AREA_R10, 0
    .set AREA_R9, 8
    .set AREA_R12, 16
    .set AREA_PPR, 24
    .set AREA_CFAR, 32
    .set AREA_STATE, 40                 # 1: a guest runs, 2: the host does
    .set AREA_VCPU, 48
    .set AREA_R1, 56
    .set AREA_R2, 64
    # In the vCPU's, behind its GPRs.
    .set VCPU_LR, 256
    .set VCPU_CTR, 264
    .set VCPU_XER, 272
    .set VCPU_CR, 280
    .set VCPU_CFAR, 288
    .set VCPU_PPR, 296
    .set VCPU_PC, 304
    .set VCPU_MSR, 312
    .set VCPU_SRR0, 320
    .set VCPU_SRR1, 328
    .set VCPU_TRAP, 336
    .set VCPU_INSTRUCTION, 340
    .set VCPU_NESTED, 344
    .set VCPU_CEDED, 352
    .set VCPU_ENABLED, 360              # bitmap of calls
    .set VCPU_SECURE, 368
    .set VCPU_HANDLERS, 512             # offsets from the handlers' table

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
    # The vector: does the thread run a guest?
    mtctr %r13
    mfspr %r13, HSPRG0
    std %r10, AREA_R10(%r13)
    lbz %r10, AREA_STATE(%r13)
    cmpwi %r10, 0
    beq 1f
    # KVM's: r13 moves to HSPRG1, and PPR and CR are read.
    mfctr %r10
    mtspr HSPRG1, %r10
    std %r9, AREA_R9(%r13)
    mfspr %r10, PPR
    or %r2, %r2, %r2
    std %r10, AREA_PPR(%r13)
    mfcr %r9
    ld %r10, AREA_R10(%r13)
    std %r12, AREA_R12(%r13)
    sldi %r12, %r9, 32
    ori %r12, %r12, 0xC00
    # Any interrupt's: volatile registers into the vCPU's area.
    lbz %r9, AREA_STATE(%r13)
    cmpwi %r9, 2
    beq 1f
    li %r9, 2
    stb %r9, AREA_STATE(%r13)
    ld %r9, AREA_VCPU(%r13)
    gpr_range std, 0, 8, %r9
    ld %r0, AREA_R9(%r13)
    std %r0, 9 * 8(%r9)
    gpr_range std, 10, 11, %r9
    ld %r3, AREA_R12(%r13)
    std %r3, 12 * 8(%r9)
    srdi %r4, %r12, 32
    stw %r4, VCPU_CR(%r9)
    ld %r3, AREA_CFAR(%r13)
    std %r3, VCPU_CFAR(%r9)
    ld %r4, AREA_PPR(%r13)
    std %r4, VCPU_PPR(%r9)
    ld %r1, AREA_R1(%r13)
    ld %r2, AREA_R2(%r13)
    mfspr %r10, SRR0
    mfspr %r11, SRR1
    std %r10, VCPU_SRR0(%r9)
    std %r11, VCPU_SRR1(%r9)
    clrldi %r12, %r12, 32
    andi. %r0, %r12, 2
    bne 1f
    std %r10, VCPU_PC(%r9)
    std %r11, VCPU_MSR(%r9)
    mfspr %r3, HSPRG1
    mflr %r4
    std %r3, 13 * 8(%r9)
    std %r4, VCPU_LR(%r9)
    stw %r12, VCPU_TRAP(%r9)
    li %r0, 2                           # MSR[RI]: from here on an interrupt can be returned from
    mtmsrd %r0, 1
    li %r3, -1
    stw %r3, VCPU_INSTRUCTION(%r9)
    mfctr %r3
    mfxer %r4
    std %r3, VCPU_CTR(%r9)
    std %r4, VCPU_XER(%r9)
    .irp vector, 0x1500, 0xE00, 0xE20, 0x980
    cmpwi %r12, \vector
    beq 1f
    .endr
    cmpwi %r12, 0xC00
    bne 1f
    # The call: from a kernel, not nested, in the table, enabled, with a handler.
    ld %r3, 3 * 8(%r9)
    andi. %r0, %r11, 0x4000
    bne 1f
    ld %r0, VCPU_NESTED(%r9)
    cmpdi %r0, 0
    bne 1f
    clrrdi %r3, %r3, 2
    cmpldi %r3, 64
    bge 1f
    srdi %r0, %r3, 8
    sldi %r0, %r0, 3
    add %r4, %r9, %r0
    ld %r0, VCPU_ENABLED(%r4)
    rlwinm %r4, %r3, 30, 0x3F
    srd %r0, %r0, %r4
    andi. %r0, %r0, 1
    beq 1f
    addi %r4, %r9, VCPU_HANDLERS
    lwax %r3, %r3, %r4
    cmpwi %r3, 0
    beq 1f
    add %r12, %r3, %r4
    mtctr %r12
    mr %r3, %r9
    ld %r4, 4 * 8(%r9)
    bctrl
    cmpdi %r3, 9999
    beq 1f
    ld %r4, AREA_VCPU(%r13)
    std %r3, 3 * 8(%r4)
    ld %r10, VCPU_PC(%r4)
    ld %r11, VCPU_MSR(%r4)
    # The fast return.
    li %r9, 0
    stb %r9, VCPU_CEDED(%r4)
    mtspr HSRR0, %r10
    mtspr HSRR1, %r11
    li %r9, 1
    stb %r9, AREA_STATE(%r13)
    ld %r5, VCPU_CFAR(%r4)
    mtspr CFAR, %r5
    ld %r0, VCPU_PPR(%r4)
    ld %r5, VCPU_LR(%r4)
    lwz %r6, VCPU_CR(%r4)
    mtlr %r5
    mtcr %r6
    gpr_range ld, 1, 3, %r4
    gpr_range ld, 5, 13, %r4
    mtspr PPR, %r0
    li %r0, 0x7FFF                      # a canary, to see whether HDSISR was written
    mtspr HDSISR, %r0
    lbz %r0, VCPU_SECURE(%r4)
    cmpdi %r0, 0
    bne 1f
    ld %r0, 0(%r4)
    ld %r4, 4 * 8(%r4)
    hrfid
1:  trap
real_mode_handler_end:

    # One call of a guest that has nothing else to do. A call leaves CTR changed.
    case real_mode_return, 400, 1
    load_constant %r3, THREAD_AREA
    load_constant %r4, VCPU
    mtspr HSPRG0, %r3
    li %r5, 1
    stb %r5, AREA_STATE(%r3)
    std %r4, AREA_VCPU(%r3)
    li %r5, 0
    std %r5, VCPU_NESTED(%r4)
    std %r5, VCPU_SECURE(%r4)
    li %r5, -1
    std %r5, VCPU_ENABLED(%r4)
    address_of %r5, real_mode_answer
    addi %r4, %r4, VCPU_HANDLERS
    sub %r5, %r5, %r4
    stw %r5, 16(%r4)
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
    measured_by_gpr
    li %r3, 16
    sc 1
    end_case_by_gpr

    .balign 32
real_mode_answer:
    li %r3, 0
    blr
