# power8.S: the levels behind POWER8's L3, and threads that do the same as the one that is measured.

    # 32 MiB and 256 MiB, lines 1 KiB apart, so that the lines behind each, which scattered misses bring, are of no use.
    chase chase_l4, 15, 10, 4200
    chase chase_far, 18, 10, 16400

    # All lines of 96 MiB, once around: more than the L4 has.
    case chase_96m, 49152, 16
    load_constant %r3, SCRATCH
    chase_lines 20, 786432, 7

    line_chase lines_32, 5, 32
    line_chase lines_192, 8, 192

    # A doubleword that lies across the end of a line, and holds its own address.
    case line_crossing_chain, 400, 16
    load_constant %r3, SCRATCH + 124
    std %r3, 0(%r3)
    measured
    .rept 16
    ld %r3, 0(%r3)
    .endr
    end_case

    # An interpreter that compares, eight bytes of its program a round: some additions and logic, two loads and a store
    # each. r3 = its program, r9 = its registers.
    .macro interpret_same
    mr %r11, %r3
    li %r10, 8
2:  lbz %r5, 0(%r11)
    addi %r11, %r11, 1
    cmpdi %r5, 0
    bne 3f
    ld %r7, 0(%r9)
    ld %r8, 8(%r9)
    add %r7, %r7, %r8
    addi %r12, %r12, 1
    xor %r13, %r7, %r12
    and %r14, %r12, %r8
    std %r7, 16(%r9)
3:  addi %r12, %r12, 2
    addic. %r10, %r10, -1
    bne 2b
    .endm

    # A program of its own for each thread: seven codes 0 and one 1.
    .macro program_same
    mfspr %r9, PIR
    sldi %r9, %r9, 12
    addis %r9, %r9, (SCRATCH + 0x100000) >> 16
    addi %r3, %r9, 256
    li %r12, 0
    std %r12, 0(%r9)
    std %r12, 8(%r9)
    std %r12, 0(%r3)
    li %r5, 1
    stb %r5, 7(%r3)
    .endm

    case same_work, 500, 8, ROLE_SAME
    program_same
    measured
    interpret_same
    end_case

    .section .cases, "ax"
same_work_beside:
    program_same
1:  interpret_same
    b 1b

    # STREAM triad, each core in arrays of its own of 4 MiB: those of ten cores are more than the L4 has.
    .macro stream_arrays
    mfspr %r3, PIR
    srdi %r3, %r3, 3
    sldi %r3, %r3, 25
    addis %r3, %r3, SCRATCH >> 16
    addi %r3, %r3, -8
    addis %r4, %r3, 0x40
    addis %r5, %r3, 0x80
    .endm

    .macro stream_round
    .rept 16
    lfdu %f1, 8(%r4)
    lfdu %f2, 8(%r5)
    fmadd %f3, %f2, %f0, %f1
    stfdu %f3, 8(%r3)
    .endr
    .endm

    .set STREAM_ROUNDS, 32768

    case stream, STREAM_ROUNDS, 384, ROLE_STREAM
    stream_arrays
    measured
    stream_round
    end_case

    .section .cases, "ax"
stream_beside:
    mfmsr %r3
    ori %r3, %r3, 0x2000                # FP
    mtmsrd %r3
    isync
1:  stream_arrays
    load_constant %r6, STREAM_ROUNDS
    mtctr %r6
2:  stream_round
    bdnz 2b
    b 1b
