#include "prologue.inc"
#include "radix.inc"

main:
    bl      setup_radix
    SET     10, 0x0000000028000003
    SET     11, 0x0000123400000480
    slbmte  11, 10
    # This thread's LPID and PID, and the class that the entry has.
    SET     15, RS_PID1 | RS_LPID1
    SET     16, 0x28000000
    slbieg  15, 16
    slbiag  15
    slbsync
    ptesync
    li      12, 3
    slbmfee 13, 12
    CHECK   1, 13, 0x28000000
    # Both are privileged, and a partition's kernel may execute them.
    IN_GUEST entry, GUEST_REAL
    CHECK   2, 20, 0xc00
    slbmfee 13, 12
    CHECK   3, 13, 0x28000000
    IN_GUEST entry, GUEST_ON | MSR_PR | MSR_EE
    TO_HOST
    CHECK   4, 6, 0x700
    CHECK_ADDRESS 5, 7, entry
    IN_GUEST all, GUEST_ON | MSR_PR | MSR_EE
    TO_HOST
    CHECK   6, 6, 0x700
    CHECK_ADDRESS 7, 7, all
    PASS

entry:
    slbieg  15, 16
all:
    slbiag  15
    sc      1
