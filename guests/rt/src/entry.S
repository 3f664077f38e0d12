# entry.S: a payload's first instructions, and its interrupt vectors.
#
# At entry (PAPR): r3 = device tree, big-endian, translation off, guest real addresses.

    .section .entry, "ax"
    .globl rt_entry
    .type rt_entry, @function
rt_entry:
    tdi 0, 0, 0x48                      # big-endian: a branch to the third word
    b rt_native
    .long 0xa600407d                    # mfmsr r10
    .long 0x01004a69                    # xori r10, r10, 1
    .long 0xa6035b7d                    # mtspr SRR1, r10
    .long 0x05009f42                    # bcl 20, 31, +4
    .long 0xa602687d                    # mflr r11
    .long 0x10006b39                    # addi r11, r11, 16
    .long 0xa6037a7d                    # mtspr SRR0, r11
    .long 0x2400004c                    # rfid
rt_native:
    bcl 20, 31, 1f
1:  mflr %r4
    addis %r2, %r4, (.TOC. - 1b)@ha
    addi %r2, %r2, (.TOC. - 1b)@l
    addis %r1, %r2, rt_stack_top@toc@ha
    addi %r1, %r1, rt_stack_top@toc@l
    li %r0, 0
    stdu %r0, -64(%r1)
    bl rt_start
    nop
    trap
    .size rt_entry, . - rt_entry

.macro rt_vector base, vector
    .org \base + \vector - 0x100
    mtspr {SPRG0}, %r3
    li %r3, \vector
    b rt_unexpected
.endm

.macro rt_vectors base
    .irp vector, 0x100, 0x200, 0x300, 0x380, 0x400, 0x480, 0x500, 0x600, 0x700, 0x800, 0x900, 0xA00, 0xC00, 0xD00, 0xF00, 0xF20, 0xF40, 0xF60
    rt_vector \base, \vector
    .endr
.endm

    .section .vectors, "ax"
    rt_vectors 0
    rt_vectors 0x4000                   # LPCR[AIL]=3 with translation on: quadrant 3, same memory

    .org 0x5000 - 0x100
rt_unexpected:                          # r3 = vector; a fresh stack, nothing is returned to
    bcl 20, 31, 1f
1:  mflr %r4
    addis %r2, %r4, (.TOC. - 1b)@ha
    addi %r2, %r2, (.TOC. - 1b)@l
    addis %r1, %r2, rt_interrupt_stack_top@toc@ha
    addi %r1, %r1, rt_interrupt_stack_top@toc@l
    bl rt_unexpected_interrupt
    nop
    trap

    .section .bss.stacks, "aw", @nobits
    .balign 4096
    .space 0x8000
rt_stack_top:
    .space 0x1000
rt_interrupt_stack_top:
    .space 0x100
