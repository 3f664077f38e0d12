# branches.S: taken branches, and those that cannot be foreseen.

    # The smallest loop: nothing but its back edge.
    case back_edge, 4000, 1
    measured
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

    # One indirect branch to the same place, and two of them in a block of 32 bytes.
    case steady_bctr, 4000, 1
    address_of %r3, 1f
    mtctr %r3
    measured_by_gpr
    bctr
    .balign 32
1:
    end_case_by_gpr

    case two_bctr, 4000, 1
    measured_by_gpr
    bcl 20, 31, .+4
2:
    mflr %r3
    addi %r4, %r3, 3f - 2b
    addi %r5, %r3, 4f - 2b
    mtctr %r4
    bctr
3:
    mtctr %r5
    bctr
    .balign 32
4:
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
