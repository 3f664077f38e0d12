# boot.S: from OPAL's or kexec's jump into the image to the first Rust function.
#
# At entry:  MSR = SF|HV, translation off, either endianness. r3 = device tree. OPAL and kexec-tools set
#            r8/r9 = OPAL base/entry, kexec-lite does not.
#            The image lies anywhere behind the first 128 bytes of memory (8 bytes aligned) and may not
#            use absolute addresses.
# At exit:   little-endian, the image copied to real 0 and running at 0xC000_0000_0000_0000,
#            r13 = HSPRG0 = the thread's PerCpu, r1 = boot stack, r2 = TOC,
#            hal_boot(device tree, 1 if the copy destroyed the device tree).

    .set BOOT_OFFSET, 0x6000            # of boot_entry in the image: see image.ld
    .set FIRST_PIECE, 0x8000            # vectors and this code: see image.ld

    .section .entry, "ax"               # the segment's first bytes: kexec-tools enter it there
    little_endian
    b boot_entry

    .section .boot, "ax"
    .globl boot_entry
    .type boot_entry, @function
boot_entry:
    little_endian
    mr %r31, %r3
    mr %r28, %r8
    mr %r29, %r9

    # r30 = where the image lies now.
    bcl 20, 31, 1f
1:  mflr %r30
    addis %r30, %r30, (image_start - 1b)@ha
    addi %r30, %r30, (image_start - 1b)@l
    clrldi %r30, %r30, 4                # kexec may have entered at an address with top bits set

    # r26 = image size in bytes, r27 = 1 if the copy runs over the device tree.
    lis %r26, image_bytes@h
    ori %r26, %r26, image_bytes@l
    li %r27, 0
    clrldi %r4, %r31, 4
    cmpld %r4, %r26
    bge 2f
    li %r27, 1
2:
    # Copy to real 0 in two pieces: the second piece is copied by the copy of this code, so that
    # an image that overlaps its destination does not overwrite the loop that moves it.
    cmpdi %r30, 0
    beq 4f
    li %r5, 0
    lis %r6, FIRST_PIECE >> 16
    ori %r6, %r6, FIRST_PIECE & 0xFFFF
    bl boot_copy
    li %r6, BOOT_OFFSET + (3f - boot_entry)
    mtctr %r6
    bctr
3:  lis %r5, FIRST_PIECE >> 16
    ori %r5, %r5, FIRST_PIECE & 0xFFFF
    mr %r6, %r26
    bl boot_copy
4:
    # From real addresses to 0xC000_0000_0000_0000: the same memory, as the top bits are ignored.
    li %r3, -4
    sldi %r3, %r3, 60                   # 0xC000_0000_0000_0000
    addi %r4, %r3, BOOT_OFFSET + (5f - boot_entry)
    mtctr %r4
    bctr
5:
    bcl 20, 31, 6f
6:  mflr %r4
    addis %r2, %r4, (.TOC. - 6b)@ha
    addi %r2, %r2, (.TOC. - 6b)@l
    addis %r13, %r2, hal_per_cpu@toc@ha
    addi %r13, %r13, hal_per_cpu@toc@l
    mtspr {HSPRG0}, %r13
    std %r2, {TOC}(%r13)
    std %r28, {OPAL_BASE}(%r13)
    std %r29, {OPAL_ENTRY}(%r13)
    addis %r1, %r2, hal_boot_stack_top@toc@ha
    addi %r1, %r1, hal_boot_stack_top@toc@l
    li %r0, 0
    stdu %r0, -64(%r1)
    mr %r3, %r31
    mr %r4, %r27
    bl hal_boot
    nop
    trap

# Copies bytes r5..r6 of the image at r30 to real address r5 and makes them fetchable.
boot_copy:
    add %r7, %r30, %r5
    sub %r8, %r6, %r5
    srdi %r8, %r8, 3
    mtctr %r8
    addi %r7, %r7, -8
    addi %r9, %r5, -8
1:  ldu %r0, 8(%r7)
    stdu %r0, 8(%r9)
    bdnz 1b
    mr %r9, %r5
2:  dcbst 0, %r9
    addi %r9, %r9, 128
    cmpld %r9, %r6
    blt 2b
    sync
    mr %r9, %r5
3:  icbi 0, %r9
    addi %r9, %r9, 128
    cmpld %r9, %r6
    blt 3b
    sync
    isync
    blr
    .size boot_entry, . - boot_entry

# Where OPAL_START_CPU lets a thread begin: SF|HV, big-endian, translation off; no register is known. One
# thread at a time comes here: its PerCpu is in hal_next_thread, its first stack is the one below.
    .section .boot, "ax"
    .globl hal_thread_entry
    .type hal_thread_entry, @function
hal_thread_entry:
    little_endian
    bcl 20, 31, 1f
1:  mflr %r4
    li %r3, -4
    sldi %r3, %r3, 60                   # 0xC000_0000_0000_0000
    or %r4, %r4, %r3
    addi %r3, %r4, 2f - 1b
    mtctr %r3
    bctr
2:
    addis %r2, %r4, (.TOC. - 1b)@ha
    addi %r2, %r2, (.TOC. - 1b)@l
    addis %r13, %r2, hal_next_thread@toc@ha
    ld %r13, hal_next_thread@toc@l(%r13)
    mtspr {HSPRG0}, %r13
    addis %r1, %r2, hal_thread_stack_top@toc@ha
    addi %r1, %r1, hal_thread_stack_top@toc@l
    li %r0, 0
    stdu %r0, -64(%r1)
    bl hal_thread_start
    nop
    trap
    .size hal_thread_entry, . - hal_thread_entry

    .text
    .globl hal_on_stack
    .type hal_on_stack, @function
hal_on_stack:                           # (stack's top): goes on in hal_thread_main there
    mr %r1, %r3
    li %r0, 0
    stdu %r0, -64(%r1)
    bl hal_thread_main
    nop
    trap
    .size hal_on_stack, . - hal_on_stack

    .section .bss.boot_stack, "aw", @nobits
    .balign 4096
    .space 0x10000
    .globl hal_boot_stack_top
hal_boot_stack_top:
    .space 0x100                        # callees may store to their caller's header

    .section .bss.thread_stack, "aw", @nobits
    .balign 4096
    .space 0x2000
    .globl hal_thread_stack_top
hal_thread_stack_top:
    .space 0x100
