#include "prologue.inc"
#include "radix.inc"
#include "vectors.inc"

.macro ALIGNMENT number, code
    TO_GUEST \number, \code, GUEST_ON, 0x600, \code
    CHECK_SPR \number, DAR, WINDOW + 0x12
.endm

# There is no reservation, and they are not aligned.
main:
    bl      setup_radix
    SET     13, WINDOW
    SET     14, 0x12
    ALIGNMENT 1, word
    ALIGNMENT 2, doubleword
    SET     14, 0x11
    TO_GUEST 3, halfword, GUEST_ON, 0x600, halfword
    CHECK_SPR 3, DAR, WINDOW + 0x11
    PASS

halfword:
    sthcx.  10, 13, 14
word:
    stwcx.  10, 13, 14
doubleword:
    stdcx.  10, 13, 14
