# both.S: from OPAL's or kexec's jump into the file to the same place of the part for this processor.
#
# At entry and at exit: as boot.S has it at its entry, but for r4 to r7, r10, r11, CR, LR, CTR, HSRR0 and HSRR1, which
# nobody hands over. POWER9's part gets whatever is no POWER8, and says so if it is not its own either.

    .set PART_ENTRY, 0x6000             # of a part's first instruction: see image.ld

    .section .entry, "ax"               # the segment's first bytes: kexec-tools enter it there
    little_endian
    b choose

    .section .choose, "ax"
    .globl choose
    .type choose, @function
choose:
    little_endian
    # r5 = where the file lies now.
    bcl 20, 31, 1f
1:  mflr %r5
    addis %r5, %r5, (image_start - 1b)@ha
    addi %r5, %r5, (image_start - 1b)@l

    # r6 = what is behind it, as far as the part is.
    lis %r6, power9_offset@h
    ori %r6, %r6, power9_offset@l
    mfspr %r4, {PVR}
    srwi %r4, %r4, 16
    cmpwi %r4, {POWER8_FIRST}
    blt 2f
    cmpwi %r4, {POWER8_LAST}
    bgt 2f
    lis %r6, power8_offset@h
    ori %r6, %r6, power8_offset@l
2:
    add %r5, %r5, %r6
    addi %r5, %r5, PART_ENTRY
    mtctr %r5
    bctr
    .size choose, . - choose
