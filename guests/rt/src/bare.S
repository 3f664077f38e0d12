# bare.S: a kernel's first instructions under OPAL.
#
# At entry:  MSR = SF|HV, big-endian, translation off. r3 = device tree, r8/r9 = OPAL base/entry.
#            The file lies where firmware has put it, as it is: apart from where the program is linked, so that one
#            copy suffices.
# At exit:   little-endian, machine checks on, the program at real 0 where it is linked, memory behind the file cleared:
#            rt_start(device tree, OPAL base, OPAL entry).

    .set FIRST_BYTE, 0x100              # of the program: see guest.ld

.macro address_of register, symbol
    lis \register, \symbol@ha
    addi \register, \register, \symbol@l
.endm

    .section .entry, "ax"
    .globl rt_entry
    .type rt_entry, @function
rt_entry:
    to_native
    bcl 20, 31, 1f
1:  mflr %r4
    address_of %r5, 1b
    sub %r4, %r4, %r5                   # where the file lies
    address_of %r5, rt_file_end
    address_of %r6, rt_end
    addi %r6, %r6, 7
    addi %r7, %r4, FIRST_BYTE - 8
    li %r10, FIRST_BYTE - 8
    addi %r11, %r5, -FIRST_BYTE
    srdi %r11, %r11, 3
    mtctr %r11
1:  ldu %r0, 8(%r7)
    stdu %r0, 8(%r10)
    bdnz 1b
    li %r0, 0
    sub %r11, %r6, %r5
    srdi %r11, %r11, 3
    mtctr %r11
1:  stdu %r0, 8(%r10)
    bdnz 1b
    li %r10, 0
1:  dcbst 0, %r10
    addi %r10, %r10, 128
    cmpld %r10, %r5
    blt 1b
    sync
    li %r10, 0
1:  icbi 0, %r10
    addi %r10, %r10, 128
    cmpld %r10, %r5
    blt 1b
    sync
    isync
    address_of %r10, 2f
    mfmsr %r11
    ori %r11, %r11, {ME} | {RI}
    mtspr {SRR0}, %r10
    mtspr {SRR1}, %r11
    rfid
2:  mr %r30, %r8
    mr %r31, %r9
    load_toc
    addis %r1, %r2, rt_stack_top@toc@ha
    addi %r1, %r1, rt_stack_top@toc@l
    li %r0, 0
    stdu %r0, -64(%r1)
    mr %r4, %r30
    mr %r5, %r31
    bl rt_start
    nop
    trap
    .size rt_entry, . - rt_entry

    .section .bss.stacks, "aw", @nobits
    .balign 4096
    .space 0x8000
rt_stack_top:
    .space 0x100
