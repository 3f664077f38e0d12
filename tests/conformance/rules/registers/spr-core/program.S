#include "prologue.inc"
#include "radix.inc"

# What POWER9 has beyond the architecture, and does here what no thread sees.
.set SPRC, 276
.set CIR, 283
.set TFMR, 317
.set IMC, 799
.set LDBAR, 850
.set MMCRC, 851
.set L2QOSR, 861
.set TRACE, 1006

.set PATTERN, 0x123456789abcdef0
.set PROBLEM, GUEST_ON | MSR_PR | MSR_EE

# TFMR: what firmware set, the commands, and the states with the time base not valid.
.set TFMR_SETTING, 0x8002000000000000
.set TFMR_LOAD, 0x800000000000
.set TFMR_MOVE, 0x200000000000
.set TFMR_CLEAR, 0x8000000000
.set TFMR_ON, 0xa00000
.set TFMR_ERROR, 0x20000

main:
    CHECK_SPR 1, CIR, 0
    SET_SPR IMC, PATTERN
    CHECK_SPR 2, IMC, PATTERN
    SET_SPR MMCRC, PATTERN
    CHECK_SPR 3, MMCRC, 0x9abcdef0
    SET_SPR L2QOSR, PATTERN
    # An address, and neither counts nor a trace.
    SET_SPR LDBAR, 0x20000000
    CHECK_SPR 4, LDBAR, 0x20000000
    # What is no address is not kept.
    SET_SPR SPRC, 8
    SET_SPR SPRC, PATTERN
    CHECK_SPR 5, SPRC, 8

    # The state in bits 28:31, and the one before.
    CHECK_SPR 6, TFMR, 0x0002000870e00000
    SET_SPR TFMR, TFMR_SETTING | TFMR_LOAD
    CHECK_SPR 7, TFMR, TFMR_SETTING | 0x210000000 | TFMR_ON
    SET_SPR TFMR, TFMR_SETTING | TFMR_MOVE
    CHECK_SPR 8, TFMR, TFMR_SETTING | TFMR_MOVE | 0x760000000 | TFMR_ON
    SET_SPR TFMR, TFMR_SETTING | TFMR_LOAD
    CHECK_SPR 9, TFMR, TFMR_SETTING | 0x970000000 | TFMR_ON | TFMR_ERROR
    SET_SPR TFMR, TFMR_SETTING | TFMR_CLEAR
    CHECK_SPR 10, TFMR, TFMR_SETTING | 0x090000000 | TFMR_ON

    # The kernel reads CIR, and problem state writes TRACE.
    bl      setup_radix
    IN_GUEST kernel, GUEST_REAL
    CHECK   11, 20, 0xc00
    CHECK   12, 14, 0
    IN_GUEST problem, PROBLEM
    TO_HOST
    CHECK   13, 6, 0x700
    CHECK_ADDRESS 14, 7, problem_end
    PASS

kernel:
    li      14, 1
    mfspr   14, CIR
    sc      1
problem:
    mtspr   TRACE, 14
problem_end:
    mfspr   14, CIR
