#include "prologue.inc"
#include "hash.inc"

main:
    bl      setup_hash
    SEGMENT 31, 0x10000000, 0x123000
    SEGMENT 0, 0x10000000, 0x123040
    FAIL    1
