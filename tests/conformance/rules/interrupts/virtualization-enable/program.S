#include "prologue.inc"
#include "opal.inc"
#include "radix.inc"

main:
    mfspr   14, PIR
    OPAL    INT_SET_CPPR, 0xff, 0
    mr      3, 14
    li      4, 4
    li      0, INT_SET_MFRR
    bl      opal_call
    CHECK   1, 3, 0
    bl      setup_radix
    SET_SPR DEC, 0x7fffffff
    mfmsr   10
    ori     11, 10, MSR_EE
    # Not enabled: it comes to nobody.
    ON_INTERRUPT unexpected
    mtmsrd  11, 1
    nop
    mtmsrd  10, 1
    IN_GUEST calls, GUEST_REAL | MSR_EE
    CHECK   2, 20, 0xc00
    # Enabled: it comes from a partition with EE=0 and with EE=1.
    SET_SPR LPCR, LPCR_RADIX | LPCR_HVICE
    IN_GUEST calls, GUEST_REAL
    CHECK   3, 20, 0xea0
    CHECK_ADDRESS 4, 23, calls
    CHECK   5, 24, GUEST_REAL
    IN_GUEST calls, GUEST_REAL | MSR_EE
    CHECK   6, 20, 0xea0
    # In hypervisor state it waits for EE, and HEIC is for external interrupts.
    SET_SPR LPCR, LPCR_RADIX | LPCR_HVICE | LPCR_HEIC
    isync
    ON_INTERRUPT unexpected
    nop
    ON_INTERRUPT taken
    mtmsrd  11, 1
enabled:
    FAIL    7
taken:
    CHECK   8, 20, 0xea0
    CHECK_ADDRESS 9, 23, enabled
    PASS

calls:
    sc      1
