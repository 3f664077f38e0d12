#include "prologue.inc"
#include "radix.inc"

main:
    bl      setup_radix
    STORE   GUEST_L4, LEAF | WINDOW | 2 << 4
    INVALIDATE_ALL
    # With relocation on and off.
    SET     13, WINDOW + 0x10
    IN_GUEST reserve, GUEST_ON
    CHECK   1, 20, 0xe00
    CHECK_ADDRESS 2, 23, reserve
    CHECK_SPR 3, HDSISR, 0x04000000
    CHECK_SPR 4, HDAR, WINDOW + 0x10
    CHECK_SPR 5, ASDR, WINDOW
    IN_GUEST conditional, GUEST_REAL
    CHECK   6, 20, 0xe00
    CHECK_ADDRESS 7, 23, conditional
    CHECK_SPR 8, HDSISR, 0x06000000
    CHECK_SPR 9, HDAR, WINDOW + 0x10
    IN_GUEST unaligned, GUEST_REAL
    TO_HOST
    CHECK   10, 6, 0x600
    CHECK_ADDRESS 11, 7, unaligned
    CHECK_SPR 12, DAR, WINDOW + 0x11
    # Where both stages say so it is the process's.
    STORE   PID1_L4, LEAF | WINDOW | 3 << 4
    INVALIDATE_ALL
    IN_GUEST reserve, GUEST_ON
    TO_HOST
    CHECK   13, 6, 0x300
    CHECK_SPR 14, DSISR, 0x04000000
    PASS

reserve:
    ldarx   10, 0, 13
    sc      1
conditional:
    stwcx.  10, 0, 13
    sc      1
unaligned:
    lhz     10, 1(13)
    sc      1
