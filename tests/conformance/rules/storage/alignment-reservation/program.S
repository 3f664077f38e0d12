#include "prologue.inc"
#include "misaligned.inc"

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
