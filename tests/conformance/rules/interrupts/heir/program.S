#include "prologue.inc"
#include "radix.inc"
#include "vectors.inc"

.set LITTLE, GUEST_REAL | MSR_LE

# 0x14 as little-endian mode fetches it.
swapped:
    .long   0x14000000

main:
    bl      setup_radix
    TO_HOST_BY_HSRR 1, nothing, GUEST_ON | MSR_PR | MSR_EE, 0xe40, nothing
    HEIR_IS 2, 0x14
    # The instruction, not the bytes.
    TO_HOST_BY_HSRR 3, swapped, LITTLE, 0xe40, swapped
    HEIR_IS 4, 0x14
    # From hypervisor state too.
    TO_HOST_BY_HSRR 5, odd_word, MSR_SF | MSR_HV | MSR_ME, 0xe40, odd_word
    HEIR_IS 6, 0x00ffffff
    # No other interrupt writes it, from the instruction that LPCR[EVIRT] would leave to the hypervisor on.
    TO_GUEST 7, no_evirt, GUEST_REAL, 0x700, no_evirt, 0x40000
    HEIR_IS 8, MARK
    SET_SPR LPCR, LPCR_RADIX | LPCR_EVIRT
    TO_HOST_BY_HSRR 9, no_evirt, GUEST_REAL, 0xe40, no_evirt
    ADDRESS 10, no_evirt
    lwz     10, 0(10)
    mfspr   11, HEIR
    cmpd    10, 11
    beq     1f
    FAIL    10
1:  # Not in problem state.
    TO_GUEST 11, no_evirt, GUEST_ON | MSR_PR | MSR_EE, 0x700, no_evirt, 0x40000
    HEIR_IS 12, MARK
    SET_SPR HFSCR, 0
    TO_HOST_BY_HSRR 13, floating, GUEST_REAL, 0xf80, floating
    HEIR_IS 14, MARK
    PASS

no_evirt:
    mfspr   10, HFSCR
odd_word:
    .long   0x00ffffff
    CODE_OF_VECTORS
