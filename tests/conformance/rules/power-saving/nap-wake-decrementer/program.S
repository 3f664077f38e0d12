#include "prologue.inc"

.macro WAKES number, instruction
    ON_INTERRUPT .Lwoken\@
    SET_SPR DEC, 5000
    \instruction
    FAIL    \number
.Lwoken\@:
    ON_INTERRUPT unexpected
    CHECK   \number, 20, 0x100
    # SRR1[42:45]: the decrementer.
    CHECK_BITS \number, 22, 0x3c0000, 0x180000
    mfspr   10, DEC
    extsw   10, 10
    srdi    10, 10, 63
    CHECK   \number, 10, 1
.endm

main:
    SET_SPR LPCR, LPCR_PECE_DEC
    isync
    # doze, nap.
    WAKES   1, ".long 0x4c000324"
    WAKES   2, ".long 0x4c000364"
    PASS
