#include "prologue.inc"
#include "radix.inc"

main:
    bl      setup_radix
    # One 4 KiB translation of the window.
    GUEST_READS 1, WINDOW, 0x11
    # The window becomes one page of 2 MiB, and nobody says so.
    STORE   GUEST_L3 + (WINDOW >> 21) * 8, LEAF | LARGE_A
    ptesync
    TLBIE   IS_LPID, RS_LPID1, 1, 0
    SYNC_TLBIE
    STORE   LARGE_A + 0x1000, 0xa3
    GUEST_READS 2, WINDOW + 0x1000, 0xa3
    # Now two translations match the first page.
    SET     13, WINDOW + 8
    IN_GUEST guest_load, GUEST_REAL
    CHECK   3, 20, 0x200
    CHECK_ADDRESS 4, 21, guest_load
    CHECK_BITS 5, 22, 0x003c0000, 0x00200000
    CHECK_SPR 6, DSISR, 0x400
    CHECK_SPR 7, DAR, WINDOW + 8
    mfmsr   10
    CHECK   8, 10, MSR_SF | MSR_HV
    # As a hypervisor does: empty the TLB and go on.
    TLBIEL  IS_LPID, 0, 0, 0
    ptesync
    GUEST_READS 9, WINDOW, 0xa2
    PASS
