# vectors.S: every interrupt, at both doors, up to the first Rust instruction and back.
#
# Real door, 0x100...: translation off. Virtual door, 0x4100...: the guest ran with IR=DR=1 and
# LPCR[AIL]=3, the exit arrives at 0xC000_0000_0000_4100... with translation on. Neither needs a
# change of LPIDR or PIDR: this code lives in quadrant 3, where both are taken for zero.
#
# Known at entry: r13 = HSPRG0 is the thread's PerCpu. The interrupted r13 is kept in r0 by the hypercall path, which a
# call may lose, and in HSPRG1 by all others: a write of such a register makes the next read wait.
#
# sc 1        guest r14-r31, CR2-CR4 and LR survive (Rust's ABI or a slot); r0, r3-r12, CTR, XER
#             and the other CR fields are the caller's to lose: results or zero. SRR0 and SRR1 are
#             not touched.
# all others  everything survives: r0-r13, CR, LR, CTR, XER, CFAR go to the vCPU's record, r14-r31 stay
#             in the registers, SRR0/1 or HSRR0/1 stay as the interrupt left them.
#
# An exit code is the vector, plus 1 for the real door, plus 2 when HSRR0/1 hold the return.

    .set REAL, 1
    .set HSRR, 2
    .set VOLATILE_CR, 0xC7              # CR0, CR1, CR5-CR7

.macro stub_begins offset
    .org \offset - 0x100
    mtspr {HSPRG1}, %r13
    mfspr %r13, {HSPRG0}
    std %r12, {R12}(%r13)
    mfspr %r12, {CFAR}                  # before the first branch
    std %r12, {CFAR_SLOT}(%r13)
.endm

.macro door_stub offset, vector, flags, target
    stub_begins \offset
    li %r12, \vector + \flags
    b \target
.endm

.macro door_stubs base, door, target
    system_reset_stub \base + 0x100, \door, \target
    door_stub \base + 0x200, 0x200, \door, \target
    door_stub \base + 0x300, 0x300, \door, \target
    door_stub \base + 0x380, 0x380, \door, \target
    door_stub \base + 0x400, 0x400, \door, \target
    door_stub \base + 0x480, 0x480, \door, \target
    door_stub \base + 0x500, 0x500, \door + HSRR, \target    # LPCR[LPES]=0
    door_stub \base + 0x600, 0x600, \door, \target
    door_stub \base + 0x700, 0x700, \door, \target
    door_stub \base + 0x800, 0x800, \door, \target
    door_stub \base + 0x900, 0x900, \door, \target
    door_stub \base + 0x980, 0x980, \door + HSRR, \target
    door_stub \base + 0xA00, 0xA00, \door, \target
.endm

.macro door_stubs_after_system_call base, door, target
    door_stub \base + 0xD00, 0xD00, \door, \target
    door_stub \base + 0xE00, 0xE00, \door + HSRR, \target
    door_stub \base + 0xE20, 0xE20, \door + HSRR, \target
    door_stub \base + 0xE40, 0xE40, \door + HSRR, \target
    door_stub \base + 0xE60, 0xE60, \door + HSRR, \target
    door_stub \base + 0xE80, 0xE80, \door + HSRR, \target
    door_stub \base + 0xEA0, 0xEA0, \door + HSRR, \target
    door_stub \base + 0xF00, 0xF00, \door, \target
    door_stub \base + 0xF20, 0xF20, \door, \target
    door_stub \base + 0xF40, 0xF40, \door, \target
    door_stub \base + 0xF60, 0xF60, \door, \target
    door_stub \base + 0xF80, 0xF80, \door + HSRR, \target
    door_stub \base + 0x1500, 0x1500, \door + HSRR, \target
.endm

    .section .vectors, "ax"

    door_stubs 0, REAL, exit_real

    .org 0xC00 - 0x100
    mr %r0, %r13
    mfspr %r13, {HSPRG0}
    std %r12, {R12}(%r13)               # the ninth argument, of calls of a hashed page table
    site {AT_EXIT}, hypercall_real_guarded
    ld %r12, {HYPERCALL_ENTRY}(%r13)
    mtctr %r12
    ld %r12, {HYPERCALLS_REAL}(%r13)
    addi %r12, %r12, 1
    std %r12, {HYPERCALLS_REAL}(%r13)
    ld %r12, {HOST_MSR}(%r13)
    bctr                                # to hypercall_real, or hypercall_hash, at 0xC000...

    door_stubs_after_system_call 0, REAL, exit_real

    door_stubs 0x4000, 0, exit_common

# The hypercall path. To Rust: r3 = opcode, r4-r10 = arguments. From Rust: r3 = status, r4 = what
# to do: 0 return with no outputs, 1 store the rest of the guest's registers and ask hal_offer, 2 leave the guest, 3 return with
# r4-r9 from the record.
    .org 0x4C00 - 0x100
    mr %r0, %r13
    mfspr %r13, {HSPRG0}
    site {AT_EXIT}, hypercall_guarded
    ld %r12, {HYPERCALLS_VIRTUAL}(%r13)
    addi %r12, %r12, 1
    std %r12, {HYPERCALLS_VIRTUAL}(%r13)
    mfspr %r11, {SRR1}
hypercall:
    mflr %r12
    std %r0, {GUEST_R13}(%r13)
    std %r12, {GUEST_LR}(%r13)
    ld %r12, {NOT_A_GUEST_KERNEL}(%r13)
    std %r1, {GUEST_R1}(%r13)
    std %r2, {GUEST_R2}(%r13)
    and. %r11, %r11, %r12               # MSR[HV] or MSR[PR]
    bne- hypercall_refused
    ld %r1, {STACK}(%r13)
    site {AT_CALL}, hypercall_guarded_again
    ld %r2, {TOC}(%r13)
hypercall_goes_on:
    bl hal_hypercall
hypercall_answered:
    cmpldi %r4, 0
    ld %r0, {GUEST_LR}(%r13)
    ld %r1, {GUEST_R1}(%r13)
    ld %r2, {GUEST_R2}(%r13)
    bne- hypercall_with_outputs
    mtlr %r0
    li %r0, 0                           # nothing of the hypervisor's stays in a register
    li %r5, 0
    li %r6, 0
    li %r7, 0
    li %r8, 0
    li %r9, 0
    li %r10, 0
    li %r11, 0
    li %r12, 0
    mtctr %r0
    mtxer %r0
    mtcrf VOLATILE_CR, %r0
    site {AT_ENTRY}, hypercall_return_guarded
    ld %r13, {GUEST_R13}(%r13)
    rfid

    door_stubs_after_system_call 0x4000, 0, exit_common

    .org 0x5600 - 0x100
hypercall_real:
    mfspr %r11, {SRR1}                  # before mtmsrd, behind which a read waits
    mtmsrd %r12, 0                      # translation on; SRR0 and SRR1 stay
    b hypercall

hypercall_refused:
    rldicl. %r11, %r11, 4, 63
    bne exit_host_system_call
    li %r3, {H_PRIVILEGE}
    li %r4, 0
    b hypercall_answered

hypercall_with_outputs:
    cmpldi %r4, 3
    bne hypercall_leave
    mtlr %r0
    li %r0, 0
    mtctr %r0
    mtxer %r0
    mtcrf VOLATILE_CR, %r0
    ld %r10, {VCPU}(%r13)
    ld %r4, {GPR} + 4*8(%r10)
    ld %r5, {GPR} + 5*8(%r10)
    ld %r6, {GPR} + 6*8(%r10)
    ld %r7, {GPR} + 7*8(%r10)
    ld %r8, {GPR} + 8*8(%r10)
    ld %r9, {GPR} + 9*8(%r10)
    li %r10, 0
    li %r11, 0
    li %r12, 0
    site {AT_ENTRY}, hypercall_return_guarded
    ld %r13, {GUEST_R13}(%r13)
    rfid

.macro record_hypercall                 # r0-r2 are the guest's LR, r1 and r2; r3-r12 are spent
    ld %r11, {VCPU}(%r13)
    std %r0, {LR}(%r11)
    std %r1, {GPR} + 1*8(%r11)
    std %r2, {GPR} + 2*8(%r11)
    std %r3, {GPR} + 3*8(%r11)
    ld %r4, {GUEST_R13}(%r13)
    std %r4, {GPR} + 13*8(%r11)
    li %r0, 0
    mtcrf VOLATILE_CR, %r0
    mfcr %r4
    std %r0, {RECORD_CFAR}(%r11)
    std %r4, {CR}(%r11)
.endm

hypercall_leave:
    cmpldi %r4, 2
    bne hypercall_offer
    record_hypercall
    mfspr %r5, {SRR0}
    mfspr %r6, {SRR1}
    std %r5, {PC}(%r11)
    std %r6, {MSR}(%r11)
    b guest_left

.macro offer_hypercall                  # the same, but it may go on: Rust keeps r14-r31, and SRR0 and SRR1, which it reads, stay
    record_hypercall
    .irp index, 14, 15, 16, 17, 18, 19, 20, 21, 22, 23, 24, 25, 26, 27, 28, 29, 30, 31
    std %r\index, {GPR} + \index*8(%r11)
    .endr
    ld %r1, {STACK}(%r13)
    ld %r2, {TOC}(%r13)
    bl hal_offer                        # 0: goes on, 1: leaves
    ld %r11, {VCPU}(%r13)
    cmpldi %r3, 0
.endm

hypercall_offer:
    offer_hypercall
    bne guest_left
    ld %r3, {GPR} + 3*8(%r11)
    li %r4, 0
    b hypercall_answered

# All other exits.

.macro record_exit                      # r11 is the record, r10 CR, r12 the code; r0-r9 are the guest's still
    std %r0, {GPR} + 0*8(%r11)
    std %r1, {GPR} + 1*8(%r11)
    std %r2, {GPR} + 2*8(%r11)
    std %r3, {GPR} + 3*8(%r11)
    std %r4, {GPR} + 4*8(%r11)
    std %r5, {GPR} + 5*8(%r11)
    std %r6, {GPR} + 6*8(%r11)
    std %r7, {GPR} + 7*8(%r11)
    std %r8, {GPR} + 8*8(%r11)
    std %r9, {GPR} + 9*8(%r11)
    ld %r4, {R10}(%r13)
    ld %r5, {R11}(%r13)
    ld %r6, {R12}(%r13)
    mfspr %r7, {HSPRG1}
    mflr %r8
    mfctr %r9
    mfxer %r0
    std %r4, {GPR} + 10*8(%r11)
    std %r5, {GPR} + 11*8(%r11)
    std %r6, {GPR} + 12*8(%r11)
    std %r7, {GPR} + 13*8(%r11)
    std %r8, {LR}(%r11)
    std %r9, {CTR}(%r11)
    ld %r1, {CFAR_SLOT}(%r13)
    std %r0, {XER}(%r11)
    std %r10, {CR}(%r11)
    std %r1, {RECORD_CFAR}(%r11)
    std %r12, {CODE}(%r13)
    ld %r1, {STACK}(%r13)
.endm

exit_host_system_call:
    mtspr {HSPRG1}, %r0
    std %r12, {R12}(%r13)
    li %r12, 0xC00
    b exit_common

exit_real:
    std %r11, {R11}(%r13)
    mfctr %r11
    std %r11, {CTR_SLOT}(%r13)
    ld %r11, {EXIT_ENTRY}(%r13)
    mtctr %r11
    bctr                                # to exit_real_high, or exit_hash_high, at 0xC000..., translation still off
exit_real_high:
    ld %r11, {CTR_SLOT}(%r13)
    mtctr %r11
    ld %r11, {R11}(%r13)
exit_common:
    site {AT_EXIT}, exit_guarded
    std %r11, {R11}(%r13)
exit_entered:
    std %r10, {R10}(%r13)
    mfcr %r10
    andi. %r11, %r12, HSRR
    bne 1f
    mfspr %r11, {SRR1}
    b 2f
1:  mfspr %r11, {HSRR1}
2:  rldicl. %r11, %r11, 4, 63           # MSR[HV]: the hypervisor was interrupted
    bne- host_interrupted
    andi. %r11, %r12, REAL
    beq 3f
    ld %r11, {HOST_MSR}(%r13)
    mtmsrd %r11, 0
3:  ld %r11, {VCPU}(%r13)
    record_exit
    site {AT_CALL}, exit_guarded_again
    ld %r2, {TOC}(%r13)
exit_goes_on:
    mr %r3, %r12
    bl hal_exit                         # 0: resume, 1: leave
    cmpldi %r3, 0
    ld %r12, {CODE}(%r13)
    ld %r11, {VCPU}(%r13)
    bne exit_leave
    andi. %r12, %r12, HSRR
    ld %r7, {CR}(%r11)
    ld %r8, {LR}(%r11)
    ld %r9, {CTR}(%r11)
    ld %r0, {XER}(%r11)
    mtlr %r8
    mtctr %r9
    mtxer %r0
    bne exit_resume_hsrr

.macro load_volatile
    ld %r0, {RECORD_CFAR}(%r11)
    mtcrf 0xFF, %r7
    mtspr {CFAR}, %r0                   # behind the last branch
    ld %r0, {GPR} + 0*8(%r11)
    ld %r1, {GPR} + 1*8(%r11)
    ld %r2, {GPR} + 2*8(%r11)
    ld %r3, {GPR} + 3*8(%r11)
    ld %r4, {GPR} + 4*8(%r11)
    ld %r5, {GPR} + 5*8(%r11)
    ld %r6, {GPR} + 6*8(%r11)
    ld %r7, {GPR} + 7*8(%r11)
    ld %r8, {GPR} + 8*8(%r11)
    ld %r9, {GPR} + 9*8(%r11)
    ld %r10, {GPR} + 10*8(%r11)
    ld %r12, {GPR} + 12*8(%r11)
    ld %r13, {GPR} + 13*8(%r11)
    ld %r11, {GPR} + 11*8(%r11)
.endm

    site {AT_ENTRY}, exit_return_guarded
    load_volatile
    rfid
exit_resume_hsrr:
    site {AT_ENTRY}, exit_return_hsrr_guarded
    load_volatile
    hrfid

exit_leave:
    andi. %r12, %r12, HSRR
    bne 1f
    mfspr %r5, {SRR0}
    mfspr %r6, {SRR1}
    b 2f
1:  mfspr %r5, {HSRR0}
    mfspr %r6, {HSRR1}
2:  std %r5, {PC}(%r11)
    std %r6, {MSR}(%r11)
    b guest_left

    .globl hal_hypercall_real
    .set hal_hypercall_real, hypercall_real
    .globl hal_exit_real_high
    .set hal_exit_real_high, exit_real_high
