#include "prologue.inc"
#include "radix.inc"

main:
    bl      setup_radix
    TLBIE   WINDOW | 0xc000000000000000, RS_PID1 | RS_LPID1, 0, 1
    FAIL    1
