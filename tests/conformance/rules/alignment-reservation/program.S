#include "prologue.inc"

.set MSR_BIG, MSR_SF | MSR_HV | MSR_ME
.set PLACE, 0x0a000000

.macro MISALIGNED number, code, msr, address
    ON_INTERRUPT .Lmisaligned\@
    SET     4, PLACE
    SET     5, 0x11
    SET_SPR DAR, 0
    RETURN_TO \code, \msr
.Lmisaligned\@:
    CHECK   \number, 20, 0x600
    CHECK_ADDRESS \number, 21, \code
    CHECK   \number, 22, \msr
    CHECK_SPR \number, DAR, \address
.endm

main:
    MISALIGNED 1, reserve_halfword, MSR_BIG, PLACE + 0x11
    MISALIGNED 2, reserve_word, MSR_BIG, PLACE + 0x11
    MISALIGNED 3, reserve_doubleword, MSR_BIG, PLACE + 0x11
    PASS

reserve_halfword:
    lharx   10, 4, 5
reserve_word:
    lwarx   10, 4, 5
reserve_doubleword:
    ldarx   10, 4, 5
