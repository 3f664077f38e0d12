#include "prologue.inc"
#include "opal.inc"
#include "deep.inc"

.set HSPRG0, 304
.set HSPRG1, 305
.set RESTORED_MSR, MSR_SF | MSR_HV | MSR_ME | MSR_RI

main:
    ON_RESET woken
    # What firmware is to set again; it does not know r1, and HSPRG1 is not among its registers.
    OPAL    CHECK_TOKEN, SLW_SET_REG, 0
    CHECK   1, 3, 1
    SET     14, 0x1234
    li      3, 0
    li      4, HSPRG0
    mr      5, 14
    li      0, SLW_SET_REG
    bl      opal_call
    CHECK   2, 3, 0
    li      3, 0
    li      4, 2000
    SET     5, RESTORED_MSR
    li      0, SLW_SET_REG
    bl      opal_call
    CHECK   3, 3, 0
    OPAL    SLW_SET_REG, 0, HSPRG1
    CHECK   4, 3, -11
    OPAL    SLW_SET_REG, 77, HSPRG0
    CHECK   5, 3, -1
    li      3, 0
    li      4, PSSCR
    li      5, 0x330
    li      0, SLW_SET_REG
    bl      opal_call
    CHECK   0x20, 3, 0
    SET_SPR HSPRG0, 0x55
    SET_SPR HSPRG1, 0x66
    SET_SPR LPIDR, 3
    SET_SPR LPCR, LPCR_PECE_DEC | LPCR_HVICE
    SET_SPR PSSCR, DEEP | 0x74
    SET_SPR DEC, 5000
    mftb    14
    ADDRESS 3, before
    std     14, 0(3)
    stop
    FAIL    6

    .balign 8
before: .quad 0

woken:
    mfsrr1  22
    # SRR1[42:45]: the decrementer; SRR1[46:47]: everything was lost.
    CHECK_BITS 7, 22, 0x3f0000, 0x1b0000
    mfmsr   14
    CHECK   8, 14, RESTORED_MSR
    mfspr   14, PSSCR
    srdi    14, 14, 60
    CHECK   9, 14, 4
    # The level in what firmware restored.
    CHECK_SPR 0x21, PSSCR, (4 << 60) | 0x330
    CHECK_SPR 10, HSPRG0, 0x1234
    # The others are not what they were: LPCR as after power-on, HSPRG1 poisoned.
    CHECK_SPR 11, LPCR, 0x004000000000a000
    CHECK_SPR 12, LPIDR, 0
    mfspr   14, HSPRG1
    cmpdi   14, 0x66
    bne     1f
    FAIL    13
1:  CHECK_SPR 14, PIR, 0
    # The time base went on, and the decrementer too.
    ADDRESS 3, before
    ld      3, 0(3)
    mftb    4
    sub     4, 4, 3
    cmpdi   4, 5000
    bge     1f
    FAIL    15
1:  mfspr   14, DEC
    extsw   14, 14
    srdi    14, 14, 63
    CHECK   16, 14, 1
    PASS
