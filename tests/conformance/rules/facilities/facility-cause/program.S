#include "prologue.inc"
#include "radix.inc"
#include "vectors.inc"

.set PROBLEM, GUEST_ON | MSR_PR | MSR_EE
.set TAR_BIT, 1 << 8

# The cause that was there is replaced, and what is switched on stays as it is.
main:
    bl      setup_radix
    SET_SPR HFSCR, (0xff << 56) | 0x4a8
    TO_HOST_BY_HSRR 1, floating, GUEST_REAL | MSR_RI, 0xf80, floating
    DESCRIBED 1
    CHECK_SPR 2, HFSCR, 0x4a8
    SET_SPR HFSCR, (0xff << 56) | 0x4a8
    TO_HOST_BY_HSRR 3, target, PROBLEM, 0xf80, target
    CHECK_SPR 4, HFSCR, (8 << 56) | 0x4a8
    # FSCR is not touched by HFSCR's refusal, nor HFSCR by FSCR's.
    SET_SPR FSCR, (0x55 << 56) | 0x1004
    SET_SPR HFSCR, 0x55 << 56
    TO_HOST_BY_HSRR 5, target, PROBLEM, 0xf80, target
    CHECK_SPR 6, FSCR, (0x55 << 56) | 0x1004
    SET_SPR HFSCR, (0x55 << 56) | TAR_BIT
    TO_GUEST 7, target, PROBLEM, 0xf60, target
    CHECK_SPR 8, FSCR, (8 << 56) | 0x1004
    CHECK_SPR 9, HFSCR, (0x55 << 56) | TAR_BIT
    DESCRIBED 9
    # MSR[FP], MSR[VEC] and MSR[VSX] leave both alone.
    SET_SPR HFSCR, (0x55 << 56) | 3
    TO_GUEST 10, floating, GUEST_REAL, 0x800, floating
    TO_GUEST 11, integer_vector, GUEST_REAL, 0xf20, integer_vector
    TO_GUEST 12, scalar_vector, GUEST_REAL, 0xf40, scalar_vector
    CHECK_SPR 13, HFSCR, (0x55 << 56) | 3
    CHECK_SPR 14, FSCR, (8 << 56) | 0x1004
    # With LPCR[AIL]=3 both arrive relocated.
    STORE   GUEST_PROCESS_TABLE, ROOT | GUEST_PID1_ROOT
    STORE   HOST_PROCESS_TABLE + 16, ROOT | HOST_PID0_ROOT
    INVALIDATE_ALL
    SET_SPR LPCR, LPCR_RADIX | LPCR_AIL3
    SET_SPR HFSCR, 0
    TO_HOST_BY_HSRR 15, target, PROBLEM, 0xf80, target, 0, MSR_IR | MSR_DR, 3
    SET_SPR HFSCR, TAR_BIT
    TO_GUEST 16, target, PROBLEM, 0xf60, target, 0, MSR_IR | MSR_DR, 3
    PASS

target:
    mtspr   TAR, 10
    CODE_OF_VECTORS
