#include "prologue.inc"
#include "radix.inc"

main:
    bl      setup_radix
    TLBIE   IS_PID, RS_PID1 | RS_LPID1, 0, 0
    FAIL    1
