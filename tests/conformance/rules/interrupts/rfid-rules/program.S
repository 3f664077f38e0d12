#include "prologue.inc"
#include "radix.inc"

main:
    bl      setup_radix
    # A partition cannot gain HV.
    IN_GUEST climb, GUEST_REAL
    CHECK   1, 20, 0xc00
    CHECK   2, 22, GUEST_REAL
    # Problem state implies EE, IR and DR.
    IN_GUEST descend, GUEST_ON
    TO_HOST
    CHECK   3, 6, 0x700
    CHECK_BITS 4, 8, 0xfffff, 0x40000 | MSR_EE | MSR_PR | MSR_ME | MSR_IR | MSR_DR
    # mtmsrd with L=1 changes EE and RI alone.
    ON_INTERRUPT unexpected
    mfmsr   10
    SET     11, MSR_RI | MSR_FP | MSR_PR
    mtmsrd  11, 1
    mfmsr   12
    ori     13, 10, MSR_RI
    cmpd    12, 13
    beq     1f
    FAIL    5
    # mtmsrd with L=0 leaves HV and LE.
1:  SET     11, MSR_SF | MSR_ME | MSR_LE
    mtmsrd  11
    mfmsr   12
    CHECK   6, 12, MSR_SF | MSR_HV | MSR_ME
    PASS

climb:
    ADDRESS 10, climbed
    mtsrr0  10
    SET     10, MSR_SF | MSR_HV | MSR_ME
    mtsrr1  10
    rfid
climbed:
    sc      1

descend:
    ADDRESS 10, descended
    mtsrr0  10
    SET     10, MSR_SF | MSR_PR | MSR_ME
    mtsrr1  10
    rfid
descended:
    mfmsr   10
