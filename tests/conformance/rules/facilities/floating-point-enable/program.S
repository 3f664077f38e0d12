#include "prologue.inc"

.set MSR_FE0, 0x0800
.set MSR_FE1, 0x0100
.set CAUSES, 0x783f0000

main:
    mfmsr   10
    ori     10, 10, MSR_FP
    mtmsrd  10
    # A zero divide that is enabled and pending: FPSCR[FEX]=1, with FE0 and FE1 off.
    mtfsb1  27
    mtfsb1  5
    # Each way to turn FE0 or FE1 on interrupts behind the instruction.
    ON_INTERRUPT first
    ori     11, 10, MSR_FE0
    mtmsrd  11
after_mtmsrd:
    FAIL    1
first:
    CHECK   2, 20, 0x700
    CHECK_ADDRESS 3, 21, after_mtmsrd
    CHECK_BITS 4, 22, CAUSES, 0x00110000
    CHECK_BITS 5, 22, MSR_FE0, MSR_FE0
    ON_INTERRUPT second
    ori     11, 10, MSR_FE1
    mtmsr   11
after_mtmsr:
    FAIL    6
second:
    CHECK   7, 20, 0x700
    CHECK_ADDRESS 8, 21, after_mtmsr
    CHECK_BITS 9, 22, CAUSES, 0x00110000
    ON_INTERRUPT third
    ADDRESS 12, returned
    mtsrr0  12
    ori     11, 10, MSR_FE0 | MSR_FE1
    mtsrr1  11
    rfid
third:
    CHECK   10, 20, 0x700
    CHECK_ADDRESS 11, 21, returned
    CHECK_BITS 12, 22, CAUSES, 0x00110000
    ON_INTERRUPT fourth
    ADDRESS 12, returned
    mtspr   HSRR0, 12
    mtspr   HSRR1, 11
    hrfid
returned:
    FAIL    13
fourth:
    CHECK   14, 20, 0x700
    CHECK_ADDRESS 15, 21, returned
    CHECK_BITS 16, 22, CAUSES, 0x00110000
    # The exception itself, with FE0 on before it: the instruction is the one that SRR0 names.
    ON_INTERRUPT unexpected
    mtmsrd  10
    mtfsb0  5
    ori     11, 10, MSR_FE0
    mtmsrd  11
    ON_INTERRUPT fifth
raises:
    mtfsb1  5
    FAIL    17
fifth:
    CHECK   18, 20, 0x700
    CHECK_ADDRESS 19, 21, raises
    CHECK_BITS 20, 22, CAUSES, 0x00100000
    PASS
