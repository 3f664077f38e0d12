# interrupts.S: a payload's interrupt vectors, and the way into `rt_interrupted` and back.

.macro rt_vector base, vector
    .org \base + \vector - 0x100
    mtspr {SPRG0}, %r3
    li %r3, \vector
    b rt_interrupt_first
.endm

# Nobody handles these: they are told of as the others are.
.macro rt_hypervisor_vector base, vector
    .org \base + \vector - 0x100
    mtspr {SPRG0}, %r3
    mfspr %r3, {HSRR0}
    mtspr {SRR0}, %r3
    mfspr %r3, {HSRR1}
    mtspr {SRR1}, %r3
    li %r3, \vector
    b rt_interrupt_first
.endm

.macro rt_vectors base
    .irp vector, 0x100, 0x200, 0x300, 0x380, 0x400, 0x480, 0x500, 0x600, 0x700, 0x800, 0x900, 0xA00, 0xC00, 0xD00
    rt_vector \base, \vector
    .endr
    .if {BARE}
    .irp vector, 0xE00, 0xE20, 0xE40, 0xE60, 0xE80, 0xEA0
    rt_hypervisor_vector \base, \vector
    .endr
    .endif
    .irp vector, 0xF00, 0xF20, 0xF40, 0xF60
    rt_vector \base, \vector
    .endr
.endm

# A payload may have one of its own, which goes on at rt_interrupt: `interrupts_at_medium_priority`.
    .globl rt_interrupt
    .weak rt_interrupt_first
    .set rt_interrupt_first, rt_interrupt

# An interrupt: on the stack of who was interrupted, below what it may use without saying so.
    .set RED_ZONE, 512
    .set FRAME, 32 + RED_ZONE + 8*20

    .section .vectors, "ax"
    rt_vectors 0
    rt_vectors 0x4000                   # LPCR[AIL]=3 with translation on: quadrant 3, same memory

    .org 0x5000 - 0x100
rt_interrupt:                           # r3 = vector, the interrupted r3 in SPRG0
    stdu %r1, -FRAME(%r1)
    std %r0, 32 + 0*8(%r1)
    std %r2, 32 + 2*8(%r1)
    std %r4, 32 + 4*8(%r1)
    std %r5, 32 + 5*8(%r1)
    std %r6, 32 + 6*8(%r1)
    std %r7, 32 + 7*8(%r1)
    std %r8, 32 + 8*8(%r1)
    std %r9, 32 + 9*8(%r1)
    std %r10, 32 + 10*8(%r1)
    std %r11, 32 + 11*8(%r1)
    std %r12, 32 + 12*8(%r1)
    std %r13, 32 + 13*8(%r1)
    mfspr %r4, {SPRG0}
    addi %r5, %r1, FRAME
    mflr %r6
    mfctr %r7
    mfxer %r8
    mfcr %r9
    mfspr %r10, {SRR0}
    mfspr %r11, {SRR1}
    std %r4, 32 + 3*8(%r1)
    std %r5, 32 + 1*8(%r1)
    std %r6, 32 + 14*8(%r1)
    std %r7, 32 + 15*8(%r1)
    std %r8, 32 + 16*8(%r1)
    std %r9, 32 + 17*8(%r1)
    std %r10, 32 + 18*8(%r1)
    std %r11, 32 + 19*8(%r1)
    load_toc
    addi %r4, %r1, 32
    bl rt_interrupted                   # vector, frame
    nop
    ld %r6, 32 + 14*8(%r1)
    ld %r7, 32 + 15*8(%r1)
    ld %r8, 32 + 16*8(%r1)
    ld %r9, 32 + 17*8(%r1)
    ld %r10, 32 + 18*8(%r1)
    ld %r11, 32 + 19*8(%r1)
    mtlr %r6
    mtctr %r7
    mtxer %r8
    mtcrf 0xFF, %r9
    mtspr {SRR0}, %r10
    mtspr {SRR1}, %r11
    ld %r0, 32 + 0*8(%r1)
    ld %r2, 32 + 2*8(%r1)
    ld %r3, 32 + 3*8(%r1)
    ld %r4, 32 + 4*8(%r1)
    ld %r5, 32 + 5*8(%r1)
    ld %r6, 32 + 6*8(%r1)
    ld %r7, 32 + 7*8(%r1)
    ld %r8, 32 + 8*8(%r1)
    ld %r9, 32 + 9*8(%r1)
    ld %r10, 32 + 10*8(%r1)
    ld %r11, 32 + 11*8(%r1)
    ld %r12, 32 + 12*8(%r1)
    ld %r13, 32 + 13*8(%r1)
    ld %r1, 32 + 1*8(%r1)
    rfid
