# enter.S: hal_enter_guest(record) looks like a function call. So does hal_enter_called_guest(record), for a vCPU that goes on behind a
# hypercall: SRR0 and SRR1, which are its own, say where and how it goes on, so that HSRR0 and HSRR1 need not be written.
#
# In:   r3 = the vCPU's record; r13 = PerCpu; LPCR, LPIDR and the guest's SPRs are set.
#       Before hrfid every register is the guest's; r14-r31, CR2-CR4, LR and r1 of the host lie on
#       its stack, whose top is the handlers' stack during the guest's exits. No vCPU goes on with the reservation of another:
#       the dispatcher takes a lock before each entry, and the store conditional of that ends a reservation.
# Out:  guest_left stores the guest's r14-r31 (the others are in the record already) and returns.

    .set FRAME, 32 + 18*8

.macro set_return                       # r3 = record
    ld %r4, {PC}(%r3)
    ld %r5, {MSR}(%r3)
    mtspr {HSRR0}, %r4
    mtspr {HSRR1}, %r5
.endm

.macro load_first                       # r3 = record
    ld %r6, {CR}(%r3)
    ld %r7, {LR}(%r3)
    ld %r8, {CTR}(%r3)
    ld %r9, {XER}(%r3)
    ld %r10, {RECORD_CFAR}(%r3)
    mtspr {CFAR}, %r10
    mtcrf 0xFF, %r6
    mtlr %r7
    mtctr %r8
    mtxer %r9
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
.endm

.macro load_last
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

.macro load_guest
    load_first
    ld %r11, {GPR} + 11*8(%r3)
    ld %r12, {GPR} + 12*8(%r3)
    ld %r13, {GPR} + 13*8(%r3)
    load_last
.endm

.macro save_host                        # what the ABI says that a function keeps
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
    std %r1, {STACK}(%r13)
    std %r3, {VCPU}(%r13)
.endm

    .text
    .globl hal_enter_guest
    .type hal_enter_guest, @function
hal_enter_guest:
    save_host
    set_return
    site {AT_ENTRY}, enter_guarded
    load_guest
    hrfid

    .globl hal_enter_called_guest
    .type hal_enter_called_guest, @function
hal_enter_called_guest:
    save_host
    site {AT_ENTRY}, enter_called_guarded
    load_guest
    rfid

    .globl guest_left
guest_left:                             # r11 = record, r13 = PerCpu
    std %r14, {GPR} + 14*8(%r11)
    std %r15, {GPR} + 15*8(%r11)
    std %r16, {GPR} + 16*8(%r11)
    std %r17, {GPR} + 17*8(%r11)
    std %r18, {GPR} + 18*8(%r11)
    std %r19, {GPR} + 19*8(%r11)
    std %r20, {GPR} + 20*8(%r11)
    std %r21, {GPR} + 21*8(%r11)
    std %r22, {GPR} + 22*8(%r11)
    std %r23, {GPR} + 23*8(%r11)
    std %r24, {GPR} + 24*8(%r11)
    std %r25, {GPR} + 25*8(%r11)
    std %r26, {GPR} + 26*8(%r11)
    std %r27, {GPR} + 27*8(%r11)
    std %r28, {GPR} + 28*8(%r11)
    std %r29, {GPR} + 29*8(%r11)
    std %r30, {GPR} + 30*8(%r11)
    std %r31, {GPR} + 31*8(%r11)
    ld %r1, {STACK}(%r13)
    ld %r2, {TOC}(%r13)
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
    addi %r1, %r1, FRAME
    lwz %r12, 8(%r1)
    ld %r0, 16(%r1)
    mtcrf 0xFF, %r12
    mtlr %r0
    blr
    .size hal_enter_guest, . - hal_enter_guest
    .size hal_enter_called_guest, . - hal_enter_called_guest
