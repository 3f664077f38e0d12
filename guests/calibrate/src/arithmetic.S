# arithmetic.S: throughput, and chains in which each result is the next one's operand.

    .macro chain name, operation:vararg
    case \name
    li %r3, 3
    li %r4, 5
    li %r5, 7
    measured
    .rept 64
    \operation
    .endr
    end_case
    .endm

    case nops
    measured
    .rept 64
    nop
    .endr
    end_case

    case independent_adds
    li %r3, 1
    measured
    .rept 8
    eight_independent_adds
    .endr
    end_case

    chain add_chain, add %r3, %r3, %r4
    chain cntlzd_chain, cntlzd %r3, %r3
    chain mulld_chain, mulld %r3, %r3, %r4
    chain adde_chain, adde %r3, %r4, %r5

    case divd_chain, 200, 16
    li %r4, -3
    li %r5, 1
    measured
    .rept 16
    divd %r4, %r4, %r5
    .endr
    end_case

    case divw_chain, 200, 16
    li %r4, -3
    li %r5, 1
    measured
    .rept 16
    divw %r4, %r4, %r5
    .endr
    end_case

    # A record form and a move of the whole CR behind it, back into the chain.
    case mfcr_chain
    li %r3, 3
    measured
    .rept 64
    mfcr %r3
    mtcrf 0x80, %r3
    .endr
    end_case

    case mfocrf_chain
    li %r3, 3
    measured
    .rept 64
    mfocrf %r3, 0x80
    mtocrf 0x80, %r3
    .endr
    end_case

    case crand_chain
    measured
    .rept 64
    crand 0, 0, 1
    .endr
    end_case

    case mtlr_mflr_chain
    li %r3, 0
    measured
    .rept 64
    mtlr %r3
    mflr %r3
    .endr
    end_case

    .macro floating_chain name, iterations, operations, operation:vararg
    case \name, \iterations, \operations
    address_of %r3, floating_operands
    lfd %f1, 0(%r3)
    lfd %f2, 8(%r3)
    lfd %f3, 16(%r3)
    measured
    .rept \operations
    \operation
    .endr
    end_case
    .endm

    .section .rodata.floating, "a"
    .balign 8
floating_operands:
    .double 1.5, 1.0, 0.0
    .section .cases, "ax"

    floating_chain fadd_chain, 1000, 64, fadd %f1, %f1, %f3
    floating_chain fmul_chain, 1000, 64, fmul %f1, %f1, %f2
    floating_chain fmadd_chain, 1000, 64, fmadd %f1, %f1, %f2, %f3
    floating_chain fdivs_chain, 200, 16, fdivs %f1, %f1, %f2
    floating_chain fdiv_chain, 200, 16, fdiv %f1, %f1, %f2
    floating_chain fsqrts_chain, 200, 16, fsqrts %f2, %f2
    floating_chain fsqrt_chain, 200, 16, fsqrt %f2, %f2

    # Quotients and roots that do not wait for each other, as fast as their units take them.
    .macro floating_throughput name, operation, operands:vararg
    case \name, 200, 16
    address_of %r3, floating_operands
    lfd %f1, 0(%r3)
    lfd %f2, 8(%r3)
    measured
    .rept 2
    .irp register, 3, 4, 5, 6, 7, 8, 9, 10
    \operation %f\register, \operands
    .endr
    .endr
    end_case
    .endm
    floating_throughput fdivs_throughput, fdivs, %f1, %f2
    floating_throughput fdiv_throughput, fdiv, %f1, %f2
    floating_throughput fsqrts_throughput, fsqrts, %f1
    floating_throughput fsqrt_throughput, fsqrt, %f1

    case divd_throughput, 200, 16
    li %r3, -3
    li %r4, 1
    measured
    .rept 2
    .irp register, 5, 6, 7, 8, 9, 10, 11, 12
    divd %r\register, %r3, %r4
    .endr
    .endr
    end_case
