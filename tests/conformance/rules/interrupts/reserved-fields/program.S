#include "prologue.inc"

# Words of which QEMU 7.2 has each: it refuses some others, such as `neg` and `isync`, with such bits.

main:
    ON_INTERRUPT interrupted
    # cmpdi and cmpldi with bit 9, into CR7.
    li      10, -1
    .long   0x2fea0005
    bge     7, 1f
    .long   0x2bea0005
    ble     7, 1f
    # cmp with bits 9 and 31, into CR0: a doubleword.
    li      11, 0
    .long   0x7c6a5801
    bge     1f
    # ldx, stdx and lwzx with bit 31.
    ADDRESS 12, cell
    li      13, 8
    SET     14, 0x123456789abcdef
    .long   0x7dcc692b
    .long   0x7dec682b
    CHECK   2, 15, 0x123456789abcdef
    .long   0x7e0c682f
    CHECK   3, 16, 0x1234567
    # extsw and cntlzw with RB.
    SET     10, 0x80000000
    .long   0x7d51ffb4
    CHECK   4, 17, 0xffffffff80000000
    .long   0x7d52f834
    CHECK   5, 18, 0
    # mcrf with bits 9 and 10: CR7, which is greater by now, into CR6.
    li      10, 1
    cmpdi   7, 10, 0
    .long   0x4f7c0000
    ble     6, 2f
    # blr with bits 16 to 18.
    ADDRESS 10, returned
    mtlr    10
    .long   0x4e80e020
    FAIL    7
returned:
    PASS
1:  FAIL    1
2:  FAIL    6
interrupted:
    CHECK   8, 20, 0
    FAIL    9
    .balign 16
cell:
    .quad   0, 0
