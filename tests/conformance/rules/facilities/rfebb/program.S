#include "prologue.inc"

main:
    SET_SPR FSCR, 1 << 7
    ADDRESS 10, target
    mtspr   805, 10
    SET     10, 0x8000000000000000
    mtspr   800, 10
    CHECK_SPR 1, BESCR, 0x8000000000000000
    mtspr   802, 10
    CHECK_SPR 2, BESCR, 0
    rfebb   1
    FAIL    3
target:
    CHECK_SPR 4, BESCR, 0x8000000000000000
    PASS
