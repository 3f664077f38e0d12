#include "prologue.inc"
#include "radix.inc"

.set CAUSE, 10
.set PATTERN, 0x12345678

# The partition's `code` is refused, with a cause and without an image of the instruction.
.macro REFUSED number, code
    SET_SPR HFSCR, 0
    SET_SPR HEIR, PATTERN
    IN_GUEST \code, GUEST_REAL
    CHECK   \number, 20, 0xf80
    CHECK_ADDRESS \number, 23, \code
    CHECK_SPR \number, HFSCR, CAUSE << 56
    CHECK_SPR \number, HEIR, PATTERN
.endm

# With the facility each thread is a partition, and its number 0.
.macro GRANTED number, code
    SET_SPR HFSCR, 1 << CAUSE
    SET     14, -1
    IN_GUEST \code, GUEST_REAL
    CHECK   \number, 20, 0xc00
    CHECK   \number, 14, 0
.endm

main:
    bl      setup_radix
    REFUSED 1, thread
    REFUSED 2, doorbells
    GRANTED 3, thread
    GRANTED 4, doorbells
    PASS

thread:
    mfspr   14, TIR
    sc      1
doorbells:
    mfspr   14, DPDES
    sc      1
