#include "prologue.inc"
#include "radix.inc"

main:
    bl      setup_radix
    # LPES=0: the request comes back to the hypervisor when the partition enables interrupts.
    SET_SPR LPCR, LPCR_RADIX | LPCR_MER
    IN_GUEST enable, GUEST_REAL
    CHECK   1, 20, 0x500
    CHECK_ADDRESS 2, 23, enabled
    CHECK_BITS 3, 24, 0x3f0000, 0x200000
    # LPES=1: it is the partition's own.
    SET_SPR LPCR, LPCR_RADIX | LPCR_MER | LPCR_LPES
    IN_GUEST enable, GUEST_REAL
    TO_HOST
    CHECK   4, 6, 0x500
    CHECK_ADDRESS 5, 7, enabled
    # Never in hypervisor state, with or without HEIC.
    ON_INTERRUPT unexpected
    mfmsr   10
    ori     11, 10, MSR_EE
    mtmsrd  11, 1
    nop
    mtmsrd  10, 1
    SET_SPR LPCR, LPCR_RADIX | LPCR_MER | LPCR_HEIC
    isync
    mtmsrd  11, 1
    nop
    mtmsrd  10, 1
    # HEIC is for hypervisor state alone.
    IN_GUEST enable, GUEST_REAL
    CHECK   6, 20, 0x500
    CHECK_ADDRESS 7, 23, enabled
    PASS

enable:
    mfmsr   10
    ori     10, 10, MSR_EE
    mtmsrd  10, 1
enabled:
    b       .
