#include "prologue.inc"
#include "radix.inc"
#include "vectors.inc"

# Two translations of different size for one page of a partition. ME goes, and with it all but SF and HV.

main:
    bl      setup_radix
    GUEST_READS 1, WINDOW, 0x11
    STORE   GUEST_L3 + (WINDOW >> 21) * 8, LEAF | LARGE_A
    ptesync
    TLBIE   IS_LPID, RS_LPID1, 1, 0
    SYNC_TLBIE
    GUEST_READS 2, WINDOW + 0x1000, 0
    SET_SPR LPCR, LPCR_RADIX | LPCR_AIL3
    SET     13, WINDOW + 8
    MARK_REGISTERS
    IN_GUEST guest_load, GUEST_REAL | MSR_REST | MSR_EE | ALL_FACILITIES
    mfmsr   10
    CHECK   3, 20, 0x200
    CHECK   4, 25, 0
    CHECK_ADDRESS 5, 21, guest_load
    CHECK   6, 22, GUEST_REAL | MSR_REST | MSR_EE | ALL_FACILITIES | 0x200000
    CHECK   7, 10, MSR_SF | MSR_HV
    DESCRIBED 8, WINDOW + 8, 0x400
    CHECK_ADDRESS 9, 23, guest_load
    HEIR_IS 10, MARK
    PASS
