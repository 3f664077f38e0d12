#include "prologue.inc"
#include "radix.inc"

main:
    bl      setup_radix
    TLBIE   WINDOW | (3 << 5), RS_PID1 | RS_LPID1, 0, 1
    FAIL    1
