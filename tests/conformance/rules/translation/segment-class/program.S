#include "prologue.inc"
#include "hash.inc"

.set CLASS, 0x80

# The first doubleword of entry `index`.
.macro ESID number, index, value
    li      12, \index
    slbmfee 13, 12
    CHECK   \number, 13, \value
.endm

main:
    bl      setup_hash
    SEGMENT 5, 0x10000000, 0x123000 | CLASS
    SEGMENT 31, 0x20000000, 0x456000
    ESID    1, 5, 0x18000000
    ESID    2, 31, 0x28000000
    ESID    3, 1, 0
    slbia   3
    ESID    4, 5, 0
    ESID    5, 31, 0x28000000
    # Nothing goes from the buffer with IH=7.
    slbia   7
    ESID    6, 31, 0x28000000
    PASS
