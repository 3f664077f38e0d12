# crash.S: an interrupt out of the hypervisor itself, from vectors.S. There is no way back.
#
# In:  r10 = CR, r12 = exit code, r13 = PerCpu; r10-r12 of the interrupted code in their slots,
#      its r13 in HSPRG1. Translation may be on or off.
# Out: all registers in the crash record, then hal_host_interrupted(code) on a stack of its own.

    .section .vectors.crash, "ax"
    .globl host_interrupted
host_interrupted:
    std %r0, {CRASH} + 0*8(%r13)
    std %r1, {CRASH} + 1*8(%r13)
    std %r2, {CRASH} + 2*8(%r13)
    std %r3, {CRASH} + 3*8(%r13)
    std %r4, {CRASH} + 4*8(%r13)
    std %r5, {CRASH} + 5*8(%r13)
    std %r6, {CRASH} + 6*8(%r13)
    std %r7, {CRASH} + 7*8(%r13)
    std %r8, {CRASH} + 8*8(%r13)
    std %r9, {CRASH} + 9*8(%r13)
    ld %r4, {R10}(%r13)
    ld %r5, {R11}(%r13)
    ld %r6, {R12}(%r13)
    mfspr %r7, {HSPRG1}
    mflr %r8
    mfctr %r9
    std %r4, {CRASH} + 10*8(%r13)
    std %r5, {CRASH} + 11*8(%r13)
    std %r6, {CRASH} + 12*8(%r13)
    std %r7, {CRASH} + 13*8(%r13)
    std %r14, {CRASH} + 14*8(%r13)
    std %r15, {CRASH} + 15*8(%r13)
    std %r16, {CRASH} + 16*8(%r13)
    std %r17, {CRASH} + 17*8(%r13)
    std %r18, {CRASH} + 18*8(%r13)
    std %r19, {CRASH} + 19*8(%r13)
    std %r20, {CRASH} + 20*8(%r13)
    std %r21, {CRASH} + 21*8(%r13)
    std %r22, {CRASH} + 22*8(%r13)
    std %r23, {CRASH} + 23*8(%r13)
    std %r24, {CRASH} + 24*8(%r13)
    std %r25, {CRASH} + 25*8(%r13)
    std %r26, {CRASH} + 26*8(%r13)
    std %r27, {CRASH} + 27*8(%r13)
    std %r28, {CRASH} + 28*8(%r13)
    std %r29, {CRASH} + 29*8(%r13)
    std %r30, {CRASH} + 30*8(%r13)
    std %r31, {CRASH} + 31*8(%r13)
    std %r8, {CRASH_LR}(%r13)
    std %r9, {CRASH_CTR}(%r13)
    std %r10, {CRASH_CR}(%r13)
    mr %r3, %r12
    ld %r2, {TOC}(%r13)
    addis %r4, %r2, hal_crash_owner@toc@ha
    addi %r4, %r4, hal_crash_owner@toc@l
1:  ldarx %r5, 0, %r4                   # the stack is one thread's, which may fail again
    cmpld %r5, %r13
    beq 2f
    cmpdi %r5, 0
    bne 1b
    stdcx. %r13, 0, %r4
    bne 1b
2:
    addis %r1, %r2, hal_crash_stack_top@toc@ha
    addi %r1, %r1, hal_crash_stack_top@toc@l
    bl hal_host_interrupted
    nop
    trap

    .section .bss.crash_stack, "aw", @nobits
    .balign 4096
    .space 0x4000
    .globl hal_crash_stack_top
hal_crash_stack_top:
    .space 0x100
hal_crash_owner:
    .space 8
