#include "prologue.inc"
#include "hash.inc"

main:
    bl      setup_hash
    SEGMENT 32, 0x10000000, 0x123000
    FAIL    1
