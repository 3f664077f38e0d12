#include "prologue.inc"
#include "radix.inc"

main:
    bl      setup_radix
    # Expired, and not enabled: the partition's own call is what comes.
    EXPIRE_HDEC
    SET_SPR LPCR, LPCR_RADIX
    IN_GUEST busy, GUEST_REAL | MSR_EE
    CHECK   1, 20, 0xc00
    # Enabled.
    SET_SPR LPCR, LPCR_RADIX | LPCR_HDICE
    # (QEMU's expires when it is written.)
    EXPIRE_HDEC
    IN_GUEST forever, GUEST_REAL
    CHECK   2, 20, 0x980
    CHECK_ADDRESS 3, 23, forever
    CHECK   4, 24, GUEST_REAL
    EXPIRE_HDEC
    IN_GUEST forever, GUEST_REAL | MSR_EE | MSR_RI
    CHECK   5, 20, 0x980
    CHECK   6, 24, GUEST_REAL | MSR_EE | MSR_RI
    mfmsr   10
    CHECK   7, 10, MSR_SF | MSR_HV | MSR_ME | MSR_RI
    # In hypervisor state it waits for EE.
    EXPIRE_HDEC
    ON_INTERRUPT unexpected
    li      3, 1000
    mtctr   3
1:  bdnz    1b
    ON_INTERRUPT taken
    mfmsr   10
    ori     11, 10, MSR_EE
    mtmsrd  11, 1
2:  b       2b
taken:
    CHECK   8, 20, 0x980
    # Nor does it come with HDICE=0 and EE=1.
    ON_INTERRUPT unexpected
    SET_SPR LPCR, LPCR_RADIX
    isync
    mtmsrd  11, 1
    li      3, 1000
    mtctr   3
3:  bdnz    3b
    mtmsrd  10, 1
    PASS

busy:
    li      3, 1000
    mtctr   3
1:  bdnz    1b
    sc      1
forever:
    b       forever
