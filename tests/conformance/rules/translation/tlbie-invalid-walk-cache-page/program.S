#include "prologue.inc"
#include "radix.inc"

main:
    bl      setup_radix
    TLBIE   WINDOW, RS_PID1 | RS_LPID1, 1, 1
    FAIL    1
