# branches.S: taken branches, and those that cannot be foreseen.

    # The smallest loop: nothing but its back edge.
    case back_edge, 4000, 1
    li %r3, 0
    measured
    addi %r3, %r3, 1
    end_case

    case back_edge_by_gpr, 4000, 1
    measured_by_gpr
    end_case_by_gpr

    case forward_taken
    measured
    .rept 64
    b .+8
    nop
    .endr
    end_case

    # A branch that goes as a bit of r4 says, and the generator of the bit: r3 runs through 2^64 - 1 values.
    .macro bit_branch name, mask
    case \name, 4000, 1
    li %r3, 1
    measured
    sldi %r4, %r3, 13
    xor %r3, %r3, %r4
    srdi %r4, %r3, 7
    xor %r3, %r3, %r4
    sldi %r4, %r3, 17
    xor %r3, %r3, %r4
    andi. %r4, %r3, \mask
    beq 1f
    nop
1:
    end_case
    .endm

    bit_branch steady_branch, 0
    bit_branch random_branch, 1

    # Indirect branches, each always to the same place, the block of 32 bytes behind it.
    case steady_bctr, 1000, 12
    bcl 20, 31, .+4
3:
    mflr %r3
    .irp place, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15
    addi %r\place, %r3, 4f - 3b + 32 * (\place - 4)
    .endr
    measured_by_gpr
    b 5f
    .balign 32
5:
    .irp place, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14
    mtctr %r\place
    bctr
    .balign 32
    .if \place == 4
4:
    .endif
    .endr
    mtctr %r15
    bctr
    .balign 32
    end_case_by_gpr

    # A call and its return.
    case call_return, 1000, 16
    measured
    .rept 16
    bl only_return
    .endr
    end_case

    .balign 32
only_return:
    blr
