#include "prologue.inc"
#include "radix.inc"

.set HOST_ON, MSR_SF | MSR_HV | MSR_ME | MSR_IR | MSR_DR

main:
    bl      setup_radix
    SET_SPR LPCR, LPCR_RADIX | LPCR_AIL3
    # With relocation on in the partition: translated, at 0xc000000000004000 plus the vector.
    ADDRESS 10, translated
    SET     11, 0xc000000000000000
    or      10, 10, 11
    mtsprg  3, 10
    RETURN_TO call, GUEST_ON
translated:
    mfmsr   12
    bl      1f
1:  mflr    13
    RETURN_TO real, MSR_SF | MSR_HV | MSR_ME
real:
    # The vector table goes by where it lies: 0x4000 in front of the same offsets.
    CHECK   1, 20, 0xc00
    CHECK   2, 12, HOST_ON
    srdi    13, 13, 60
    CHECK   3, 13, 0xc
    # With relocation off: real mode.
    IN_GUEST call, GUEST_REAL
    mfmsr   12
    CHECK   4, 20, 0xc00
    CHECK   5, 12, MSR_SF | MSR_HV | MSR_ME
    # With only one of the two on: real mode.
    IN_GUEST call, GUEST_REAL | MSR_IR
    mfmsr   12
    CHECK   6, 12, MSR_SF | MSR_HV | MSR_ME
    IN_GUEST call, GUEST_REAL | MSR_DR
    mfmsr   12
    CHECK   7, 12, MSR_SF | MSR_HV | MSR_ME
    PASS

call:
    sc      1
