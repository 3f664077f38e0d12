#include "prologue.inc"
#include "radix.inc"

# `setup_radix` and what is before the first wait take less than 100,000 steps.
main:
    bl      setup_radix
    SET_SPR HMEER, 0
    SET_SPR LPCR, LPCR_RADIX | LPCR_AIL3
    mfmsr   14
    ori     14, 14, MSR_EE
    mtmsrd  14, 1
    # Not enabled: nothing happens.
    ON_INTERRUPT unexpected
1:  mfspr   10, HMER
    cmpdi   10, 0
    beq     1b
    CHECK   1, 10, 1 << (63 - 2)
    # Another cause's enable does not help, nor does its own with EE=0.
    SET_SPR HMEER, 1 << (63 - 3)
    xori    13, 14, MSR_EE
    mtmsrd  13, 1
    SET_SPR HMEER, 1 << (63 - 2)
    nop
    ON_INTERRUPT taken
    mtmsrd  14, 1
behind:
    FAIL    2
taken:
    CHECK   3, 20, 0xe60
    CHECK_ADDRESS 4, 23, behind
    cmpd    24, 14
    beq     2f
    FAIL    5
2:  mfmsr   10
    cmpd    10, 13
    beq     3f
    FAIL    6
3:  # It goes on until HMER is cleared, and a write cannot set a cause.
    ON_INTERRUPT again
    mtmsrd  14, 1
    FAIL    7
again:
    CHECK   8, 20, 0xe60
    SET_SPR HMER, ~(1 << (63 - 2))
    CHECK_SPR 9, HMER, 0
    SET_SPR HMER, 1 << (63 - 2)
    CHECK_SPR 10, HMER, 0
    ON_INTERRUPT unexpected
    mtmsrd  14, 1
    # A partition cannot hold it back by EE=0, and it arrives in real mode whatever LPCR[AIL] says.
    SET_SPR HMEER, 1 << (63 - 5)
    ON_INTERRUPT left
    RETURN_TO partition, GUEST_ON | MSR_RI
partition:
    b       partition
left:
    CHECK   11, 20, 0xe60
    CHECK_ADDRESS 12, 23, partition
    CHECK   13, 24, GUEST_ON | MSR_RI
    mfmsr   10
    CHECK   14, 10, MSR_SF | MSR_HV | MSR_ME | MSR_RI
    CHECK_SPR 15, HMER, 1 << (63 - 5)
    PASS
