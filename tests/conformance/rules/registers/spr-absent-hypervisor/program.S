#include "prologue.inc"

main:
    mtspr   1010, 10
    FAIL    1
