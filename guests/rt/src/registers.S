# registers.S: fills every register that a program has, lets something happen, and stores them all.
#
# In:   r3 = values to fill in, r4 = where to store them, r5 = how often to spin (rt_registers_spin).
#       Interrupts are off, MSR[FP] is on.
# What cannot be kept in a register meanwhile is in SPRG1 and SPRG2: r1 and the address to store at.
# SPRG3 is for the moment in which r3 gets that address. SPRG0 is the interrupt vectors', so that an
# interrupt may come if the r1 that was filled in is a stack.

    .set REGISTERS_FRAME, 32 + 36*8

.macro registers_fill count
    mflr %r0
    mfcr %r12
    std %r0, 16(%r1)
    stw %r12, 8(%r1)
    std %r2, 24(%r1)
    stdu %r1, -REGISTERS_FRAME(%r1)
    std %r14, 32(%r1)
    std %r15, 40(%r1)
    std %r16, 48(%r1)
    std %r17, 56(%r1)
    std %r18, 64(%r1)
    std %r19, 72(%r1)
    std %r20, 80(%r1)
    std %r21, 88(%r1)
    std %r22, 96(%r1)
    std %r23, 104(%r1)
    std %r24, 112(%r1)
    std %r25, 120(%r1)
    std %r26, 128(%r1)
    std %r27, 136(%r1)
    std %r28, 144(%r1)
    std %r29, 152(%r1)
    std %r30, 160(%r1)
    std %r31, 168(%r1)
    stfd %f14, 176(%r1)
    stfd %f15, 184(%r1)
    stfd %f16, 192(%r1)
    stfd %f17, 200(%r1)
    stfd %f18, 208(%r1)
    stfd %f19, 216(%r1)
    stfd %f20, 224(%r1)
    stfd %f21, 232(%r1)
    stfd %f22, 240(%r1)
    stfd %f23, 248(%r1)
    stfd %f24, 256(%r1)
    stfd %f25, 264(%r1)
    stfd %f26, 272(%r1)
    stfd %f27, 280(%r1)
    stfd %f28, 288(%r1)
    stfd %f29, 296(%r1)
    stfd %f30, 304(%r1)
    stfd %f31, 312(%r1)
    mtspr {SPRG1}, %r1
    mtspr {SPRG2}, %r4
    lfd %f0, {FPSCR}(%r3)
    mtfsf 0xFF, %f0, 1, 0
    lfd %f0, {FPR} + 0*8(%r3)
    lfd %f1, {FPR} + 1*8(%r3)
    lfd %f2, {FPR} + 2*8(%r3)
    lfd %f3, {FPR} + 3*8(%r3)
    lfd %f4, {FPR} + 4*8(%r3)
    lfd %f5, {FPR} + 5*8(%r3)
    lfd %f6, {FPR} + 6*8(%r3)
    lfd %f7, {FPR} + 7*8(%r3)
    lfd %f8, {FPR} + 8*8(%r3)
    lfd %f9, {FPR} + 9*8(%r3)
    lfd %f10, {FPR} + 10*8(%r3)
    lfd %f11, {FPR} + 11*8(%r3)
    lfd %f12, {FPR} + 12*8(%r3)
    lfd %f13, {FPR} + 13*8(%r3)
    lfd %f14, {FPR} + 14*8(%r3)
    lfd %f15, {FPR} + 15*8(%r3)
    lfd %f16, {FPR} + 16*8(%r3)
    lfd %f17, {FPR} + 17*8(%r3)
    lfd %f18, {FPR} + 18*8(%r3)
    lfd %f19, {FPR} + 19*8(%r3)
    lfd %f20, {FPR} + 20*8(%r3)
    lfd %f21, {FPR} + 21*8(%r3)
    lfd %f22, {FPR} + 22*8(%r3)
    lfd %f23, {FPR} + 23*8(%r3)
    lfd %f24, {FPR} + 24*8(%r3)
    lfd %f25, {FPR} + 25*8(%r3)
    lfd %f26, {FPR} + 26*8(%r3)
    lfd %f27, {FPR} + 27*8(%r3)
    lfd %f28, {FPR} + 28*8(%r3)
    lfd %f29, {FPR} + 29*8(%r3)
    lfd %f30, {FPR} + 30*8(%r3)
    lfd %f31, {FPR} + 31*8(%r3)
    ld %r6, {CR}(%r3)
    ld %r7, {LR}(%r3)
    ld %r8, {XER}(%r3)
    ld %r9, {CTR}(%r3)
    mtcrf 0xFF, %r6
    mtlr %r7
    mtxer %r8
    mtctr \count
    ld %r0, {GPR} + 0*8(%r3)
    ld %r1, {GPR} + 1*8(%r3)
    ld %r2, {GPR} + 2*8(%r3)
    ld %r4, {GPR} + 4*8(%r3)
    ld %r5, {GPR} + 5*8(%r3)
    ld %r6, {GPR} + 6*8(%r3)
    ld %r7, {GPR} + 7*8(%r3)
    ld %r8, {GPR} + 8*8(%r3)
    ld %r9, {GPR} + 9*8(%r3)
    ld %r10, {GPR} + 10*8(%r3)
    ld %r11, {GPR} + 11*8(%r3)
    ld %r12, {GPR} + 12*8(%r3)
    ld %r13, {GPR} + 13*8(%r3)
    ld %r14, {GPR} + 14*8(%r3)
    ld %r15, {GPR} + 15*8(%r3)
    ld %r16, {GPR} + 16*8(%r3)
    ld %r17, {GPR} + 17*8(%r3)
    ld %r18, {GPR} + 18*8(%r3)
    ld %r19, {GPR} + 19*8(%r3)
    ld %r20, {GPR} + 20*8(%r3)
    ld %r21, {GPR} + 21*8(%r3)
    ld %r22, {GPR} + 22*8(%r3)
    ld %r23, {GPR} + 23*8(%r3)
    ld %r24, {GPR} + 24*8(%r3)
    ld %r25, {GPR} + 25*8(%r3)
    ld %r26, {GPR} + 26*8(%r3)
    ld %r27, {GPR} + 27*8(%r3)
    ld %r28, {GPR} + 28*8(%r3)
    ld %r29, {GPR} + 29*8(%r3)
    ld %r30, {GPR} + 30*8(%r3)
    ld %r31, {GPR} + 31*8(%r3)
    ld %r3, {GPR} + 3*8(%r3)
.endm

.macro registers_store
    mtspr {SPRG3}, %r3
    mfspr %r3, {SPRG2}
    std %r0, {GPR} + 0*8(%r3)
    std %r1, {GPR} + 1*8(%r3)
    std %r2, {GPR} + 2*8(%r3)
    std %r4, {GPR} + 4*8(%r3)
    std %r5, {GPR} + 5*8(%r3)
    std %r6, {GPR} + 6*8(%r3)
    std %r7, {GPR} + 7*8(%r3)
    std %r8, {GPR} + 8*8(%r3)
    std %r9, {GPR} + 9*8(%r3)
    std %r10, {GPR} + 10*8(%r3)
    std %r11, {GPR} + 11*8(%r3)
    std %r12, {GPR} + 12*8(%r3)
    std %r13, {GPR} + 13*8(%r3)
    std %r14, {GPR} + 14*8(%r3)
    std %r15, {GPR} + 15*8(%r3)
    std %r16, {GPR} + 16*8(%r3)
    std %r17, {GPR} + 17*8(%r3)
    std %r18, {GPR} + 18*8(%r3)
    std %r19, {GPR} + 19*8(%r3)
    std %r20, {GPR} + 20*8(%r3)
    std %r21, {GPR} + 21*8(%r3)
    std %r22, {GPR} + 22*8(%r3)
    std %r23, {GPR} + 23*8(%r3)
    std %r24, {GPR} + 24*8(%r3)
    std %r25, {GPR} + 25*8(%r3)
    std %r26, {GPR} + 26*8(%r3)
    std %r27, {GPR} + 27*8(%r3)
    std %r28, {GPR} + 28*8(%r3)
    std %r29, {GPR} + 29*8(%r3)
    std %r30, {GPR} + 30*8(%r3)
    std %r31, {GPR} + 31*8(%r3)
    mfspr %r4, {SPRG3}
    mfcr %r6
    mflr %r7
    mfxer %r8
    mfctr %r9
    std %r4, {GPR} + 3*8(%r3)
    std %r6, {CR}(%r3)
    std %r7, {LR}(%r3)
    std %r8, {XER}(%r3)
    std %r9, {CTR}(%r3)
    stfd %f0, {FPR} + 0*8(%r3)
    stfd %f1, {FPR} + 1*8(%r3)
    stfd %f2, {FPR} + 2*8(%r3)
    stfd %f3, {FPR} + 3*8(%r3)
    stfd %f4, {FPR} + 4*8(%r3)
    stfd %f5, {FPR} + 5*8(%r3)
    stfd %f6, {FPR} + 6*8(%r3)
    stfd %f7, {FPR} + 7*8(%r3)
    stfd %f8, {FPR} + 8*8(%r3)
    stfd %f9, {FPR} + 9*8(%r3)
    stfd %f10, {FPR} + 10*8(%r3)
    stfd %f11, {FPR} + 11*8(%r3)
    stfd %f12, {FPR} + 12*8(%r3)
    stfd %f13, {FPR} + 13*8(%r3)
    stfd %f14, {FPR} + 14*8(%r3)
    stfd %f15, {FPR} + 15*8(%r3)
    stfd %f16, {FPR} + 16*8(%r3)
    stfd %f17, {FPR} + 17*8(%r3)
    stfd %f18, {FPR} + 18*8(%r3)
    stfd %f19, {FPR} + 19*8(%r3)
    stfd %f20, {FPR} + 20*8(%r3)
    stfd %f21, {FPR} + 21*8(%r3)
    stfd %f22, {FPR} + 22*8(%r3)
    stfd %f23, {FPR} + 23*8(%r3)
    stfd %f24, {FPR} + 24*8(%r3)
    stfd %f25, {FPR} + 25*8(%r3)
    stfd %f26, {FPR} + 26*8(%r3)
    stfd %f27, {FPR} + 27*8(%r3)
    stfd %f28, {FPR} + 28*8(%r3)
    stfd %f29, {FPR} + 29*8(%r3)
    stfd %f30, {FPR} + 30*8(%r3)
    stfd %f31, {FPR} + 31*8(%r3)
    mffs %f0
    stfd %f0, {FPSCR}(%r3)
    mfspr %r1, {SPRG1}
    ld %r14, 32(%r1)
    ld %r15, 40(%r1)
    ld %r16, 48(%r1)
    ld %r17, 56(%r1)
    ld %r18, 64(%r1)
    ld %r19, 72(%r1)
    ld %r20, 80(%r1)
    ld %r21, 88(%r1)
    ld %r22, 96(%r1)
    ld %r23, 104(%r1)
    ld %r24, 112(%r1)
    ld %r25, 120(%r1)
    ld %r26, 128(%r1)
    ld %r27, 136(%r1)
    ld %r28, 144(%r1)
    ld %r29, 152(%r1)
    ld %r30, 160(%r1)
    ld %r31, 168(%r1)
    lfd %f14, 176(%r1)
    lfd %f15, 184(%r1)
    lfd %f16, 192(%r1)
    lfd %f17, 200(%r1)
    lfd %f18, 208(%r1)
    lfd %f19, 216(%r1)
    lfd %f20, 224(%r1)
    lfd %f21, 232(%r1)
    lfd %f22, 240(%r1)
    lfd %f23, 248(%r1)
    lfd %f24, 256(%r1)
    lfd %f25, 264(%r1)
    lfd %f26, 272(%r1)
    lfd %f27, 280(%r1)
    lfd %f28, 288(%r1)
    lfd %f29, 296(%r1)
    lfd %f30, 304(%r1)
    lfd %f31, 312(%r1)
    addi %r1, %r1, REGISTERS_FRAME
    ld %r0, 16(%r1)
    lwz %r12, 8(%r1)
    ld %r2, 24(%r1)
    mtlr %r0
    mtcrf 0xFF, %r12
    blr
.endm

    .text
    .globl rt_registers_spin
    .type rt_registers_spin, @function
rt_registers_spin:
    registers_fill %r5
1:  bdnz 1b
    registers_store
    .size rt_registers_spin, . - rt_registers_spin

    .globl rt_registers_load
    .type rt_registers_load, @function
rt_registers_load:                      # from where r4 is filled in to point
    registers_fill %r9
    ld %r4, 0(%r4)
    registers_store
    .size rt_registers_load, . - rt_registers_load

    .globl rt_registers_illegal
    .type rt_registers_illegal, @function
rt_registers_illegal:                   # the handler is to go on behind it
    registers_fill %r9
    .long 0
    registers_store
    .size rt_registers_illegal, . - rt_registers_illegal

    .globl rt_registers_facility
    .type rt_registers_facility, @function
rt_registers_facility:                  # a register that partitions do not have: the handler goes on behind it
    registers_fill %r9
    mfspr %r4, {MMCR0}
    registers_store
    .size rt_registers_facility, . - rt_registers_facility

    .globl rt_registers_fetch
    .type rt_registers_fetch, @function
rt_registers_fetch:                     # from where CTR points to: the handler goes on at LR
    registers_fill %r9
    bctrl
    registers_store
    .size rt_registers_fetch, . - rt_registers_fetch

    .globl rt_registers_call_begin
    .type rt_registers_call_begin, @function
rt_registers_call_begin:                # nothing of the payload's own lies between the mark and the call
    registers_fill %r9
    .long {BEGIN}
    sc 1
    registers_store
    .size rt_registers_call_begin, . - rt_registers_call_begin

    .globl rt_registers_call_end
    .type rt_registers_call_end, @function
rt_registers_call_end:
    registers_fill %r9
    sc 1
    .long {END}
    registers_store
    .size rt_registers_call_end, . - rt_registers_call_end

    .globl rt_registers_call
    .type rt_registers_call, @function
rt_registers_call:
    registers_fill %r9
    sc 1
    registers_store
    .size rt_registers_call, . - rt_registers_call

    .globl rt_registers_detour
    .type rt_registers_detour, @function
rt_registers_detour:                    # r5 = where to, r6 = with which MSR: the handler of `sc` goes on at detoured
    mtspr {SRR0}, %r5
    mtspr {SRR1}, %r6
    registers_fill %r9
    rfid

    .globl rt_registers_detour_with_vectors
    .type rt_registers_detour_with_vectors, @function
rt_registers_detour_with_vectors:       # doubleword 1 of VSR0-31 is that of VSR32-63: the filling has lost it
    mtspr {SRR0}, %r5
    mtspr {SRR1}, %r6
    registers_fill %r9
    .set index, 0
    .rept 32
    xxpermdi index, index, 32 + index, 1
    .set index, index + 1
    .endr
    rfid
    .size rt_registers_detour_with_vectors, . - rt_registers_detour_with_vectors

    .globl rt_registers_detoured
rt_registers_detoured:
    registers_store
    .size rt_registers_detour, . - rt_registers_detour

# Where to: something that leaves the guest, and `sc`; once more with the bytes of a big-endian program.
    .globl rt_detours
rt_detours:
    sc 1
    sc
1:  bdnz 1b
    sc
    .long 0x22000044, 0x02000044
    .long 0x00000042, 0x02000044
