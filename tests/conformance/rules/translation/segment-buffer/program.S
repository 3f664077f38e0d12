#include "prologue.inc"
#include "radix.inc"

main:
    bl      setup_radix
    SET     10, 0x0000000028000003
    SET     11, 0x0000123400000480
    slbmte  11, 10
    li      12, 3
    slbmfee 13, 12
    slbmfev 14, 12
    CHECK   1, 13, 0x28000000
    CHECK   2, 14, 0x0000123400000480
    SET     15, 0x20001234
    .long   0x7c000000 | (16 << 21) | (15 << 11) | (979 << 1) | 1
    beq     1f
    FAIL    3
1:  CHECK   4, 16, 0x0000123400000480
    # slbie with the class that it has.
    SET     15, 0x20000000
    slbie   15
    slbmfee 13, 12
    CHECK   5, 13, 0x28000000
    SET     15, 0x28000000
    slbie   15
    slbmfee 13, 12
    CHECK   6, 13, 0
    slbmfev 14, 12
    CHECK   10, 14, 0
    # slbia leaves entry 0 alone, IH=4 does not.
    SET     10, 0x0000000038000000
    slbmte  11, 10
    slbia
    li      12, 0
    slbmfee 13, 12
    CHECK   7, 13, 0x38000000
    slbia   4
    slbmfee 13, 12
    CHECK   8, 13, 0
    # With LPCR[UPRT]=1 the index has two bits.
    SET     10, 0x0000000048000002
    slbmte  11, 10
    li      12, 0x1e
    slbmfee 13, 12
    CHECK   11, 13, 0x48000000
    # With radix translation nothing looks into it.
    GUEST_READS 9, WINDOW, 0x11
    PASS
