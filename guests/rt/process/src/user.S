# user.S: into problem state and back, and the program that runs there.
#
# SPRG1 has the context meanwhile. At rt_user_interrupted, which `interrupts_of_users!` leads to: r3 = vector, the
# interrupted r3 in SPRG0, r4 in SPRG2, CR in SPRG3.

    .set USER_FRAME, 32 + 18*8

    .text
    .globl rt_user_run
    .type rt_user_run, @function
rt_user_run:                            # r3 = context; to r3: vector
    mflr %r0
    mfcr %r12
    std %r0, 16(%r1)
    stw %r12, 8(%r1)
    std %r2, 24(%r1)
    stdu %r1, -USER_FRAME(%r1)
    .set index, 14
    .rept 18
    std index, 32 + 8*(index - 14)(%r1)
    .set index, index + 1
    .endr
    std %r1, {STACK}(%r3)
    mtspr {SPRG1}, %r3
    ld %r4, {SPECIAL} + 0*8(%r3)
    ld %r5, {SPECIAL} + 1*8(%r3)
    ld %r6, {SPECIAL} + 2*8(%r3)
    ld %r7, {SPECIAL} + 3*8(%r3)
    ld %r8, {SPECIAL} + 4*8(%r3)
    ld %r9, {SPECIAL} + 5*8(%r3)
    mtlr %r4
    mtctr %r5
    mtxer %r6
    mtcrf 0xFF, %r7
    mtspr {SRR0}, %r8
    mtspr {SRR1}, %r9
    ld %r0, 0*8(%r3)
    ld %r1, 1*8(%r3)
    ld %r2, 2*8(%r3)
    .set index, 4
    .rept 28
    ld index, 8*index(%r3)
    .set index, index + 1
    .endr
    ld %r3, 3*8(%r3)
    rfid
    .size rt_user_run, . - rt_user_run

    .globl rt_user_interrupted
    .type rt_user_interrupted, @function
rt_user_interrupted:
    mfspr %r4, {SPRG1}
    std %r0, 0*8(%r4)
    std %r1, 1*8(%r4)
    std %r2, 2*8(%r4)
    .set index, 5
    .rept 27
    std index, 8*index(%r4)
    .set index, index + 1
    .endr
    mfspr %r5, {SPRG0}
    mfspr %r6, {SPRG2}
    std %r5, 3*8(%r4)
    std %r6, 4*8(%r4)
    mflr %r5
    mfctr %r6
    mfxer %r7
    mfspr %r8, {SPRG3}
    mfspr %r9, {SRR0}
    mfspr %r10, {SRR1}
    std %r5, {SPECIAL} + 0*8(%r4)
    std %r6, {SPECIAL} + 1*8(%r4)
    std %r7, {SPECIAL} + 2*8(%r4)
    std %r8, {SPECIAL} + 3*8(%r4)
    std %r9, {SPECIAL} + 4*8(%r4)
    std %r10, {SPECIAL} + 5*8(%r4)
    ld %r1, {STACK}(%r4)
    .set index, 14
    .rept 18
    ld index, 32 + 8*(index - 14)(%r1)
    .set index, index + 1
    .endr
    addi %r1, %r1, USER_FRAME
    ld %r0, 16(%r1)
    lwz %r12, 8(%r1)
    ld %r2, 24(%r1)
    mtlr %r0
    mtcrf 0xFF, %r12
    blr
    .size rt_user_interrupted, . - rt_user_interrupted

# The program, which may lie anywhere: a piece of work each 64 bytes, and sc at its end.
    .section .rodata.rt_user_program, "a"
    .balign 64
    .globl rt_user_program
rt_user_program:
1:  std %r6, 0(%r3)                     # stores r6 at r3, r4 times, r5 bytes apart
    add %r3, %r3, %r5
    addic. %r4, %r4, -1
    bne 1b
    sc
    .balign 64
    li %r6, 0                           # adds up what is there; to r6
2:  ld %r7, 0(%r3)
    add %r6, %r6, %r7
    add %r3, %r3, %r5
    addic. %r4, %r4, -1
    bne 2b
    sc
    .balign 64
3:  mtctr %r3                           # calls what is there
    bctrl
    add %r3, %r3, %r5
    addic. %r4, %r4, -1
    bne 3b
    sc
    .balign 64
    mtctr %r4                           # works in registers, r4 rounds
4:  mulld %r6, %r6, %r5
    addi %r6, %r6, 13
    xor %r7, %r7, %r6
    rldicl %r7, %r7, 7, 0
    add %r8, %r8, %r7
    bdnz 4b
    sc
    .balign 64
rt_user_program_end:
    .globl rt_user_program_end
