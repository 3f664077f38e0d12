# memory.S: load-to-use latency by footprint, stores and what they forward, bandwidth.

    # Builds a cycle of pointers through 2^log2 places, `stride` bytes apart from SCRATCH on, in an order
    # that no stride predicts: place i points to place (1664525 i + 1013904223) mod 2^log2, which has full
    # period. r3 = the first place.
    .macro build_cycle log2, stride_log2
    load_constant %r3, SCRATCH
    cmpdi %r24, 0
    bne 2f                              # the second pass finds it built
    load_constant %r4, 1664525
    load_constant %r5, 1013904223
    lis %r6, (1 << \log2) >> 16
    ori %r6, %r6, (1 << \log2) & 0xFFFF
    mtctr %r6
    addi %r6, %r6, -1
    li %r7, 0                           # i
1:  mulld %r8, %r7, %r4
    add %r8, %r8, %r5
    and %r8, %r8, %r6
    sldi %r8, %r8, \stride_log2
    add %r8, %r8, %r3
    sldi %r9, %r7, \stride_log2
    stdx %r8, %r3, %r9
    addi %r7, %r7, 1
    bdnz 1b
2:
    .endm

    .macro chase name, log2, stride_log2, iterations, role=0
    case \name, \iterations, 16, \role
    build_cycle \log2, \stride_log2
    measured
    .rept 16
    ld %r3, 0(%r3)
    .endr
    end_case
    .endm

    chase chase_16k, 7, 7, 200          # L1
    chase chase_256k, 11, 7, 400        # L2
    chase chase_4m, 15, 7, 4200         # L3
    # Memory: lines 1 KiB apart, so that the lines behind each, which scattered misses bring, are of no use.
    chase chase_memory, 16, 10, 4100

    case load_sign_extended_chain
    load_constant %r3, SCRATCH
    li %r4, 0
    std %r4, 0(%r3)
    li %r5, 0
    measured
    .rept 64
    lwax %r5, %r3, %r5
    .endr
    end_case

    # A value through memory: stored, loaded, and stored again.
    case store_forward, 1000, 16
    load_constant %r3, SCRATCH
    li %r4, 1
    measured
    .rept 16
    std %r4, 0(%r3)
    ld %r4, 0(%r3)
    .endr
    end_case

    # The counter in memory of every benchmark suite.
    case increment, 4000, 1
    load_constant %r3, SCRATCH
    measured
    ld %r4, 0(%r3)
    addi %r4, %r4, 1
    std %r4, 0(%r3)
    end_case

    # Two words stored next to each other, and a load of them.
    .macro forward_words name, operation:vararg
    case \name, 4000, 1
    load_constant %r3, SCRATCH
    li %r4, 1
    measured
    stw %r4, 0(%r3)
    stw %r4, 4(%r3)
    \operation
    end_case
    .endm

    # No single store has what a doubleword needs.
    forward_words forward_failed, ld %r4, 0(%r3)
    # The words loaded as they were stored.
    forward_words forward_narrow, lwz %r4, 4(%r3)

    # Independent loads that all miss: as many at once as the load-miss queue holds. The lines follow from
    # arithmetic alone, in the order of the cycles above, through 64 MiB.
    case independent_misses, 4000, 16
    load_constant %r3, SCRATCH
    load_constant %r4, 1664525
    load_constant %r5, 1013904223
    li %r6, 0
    measured
    .rept 16
    mulld %r6, %r6, %r4
    add %r6, %r6, %r5
    clrlsldi %r7, %r6, 45, 7            # 2^19 lines
    ldx %r8, %r3, %r7
    .endr
    end_case

    # STREAM triad, a[i] = b[i] + q c[i], over arrays of 16 MiB, 16 elements an iteration (3 x 128 bytes).
    case stream_triad, 100000, 384
    load_constant %r3, SCRATCH - 8
    load_constant %r4, SCRATCH + 0x1000000 - 8
    load_constant %r5, SCRATCH + 0x2000000 - 8
    measured
    .rept 16
    lfdu %f1, 8(%r4)
    lfdu %f2, 8(%r5)
    fmadd %f3, %f2, %f0, %f1
    stfdu %f3, 8(%r3)
    .endr
    end_case
