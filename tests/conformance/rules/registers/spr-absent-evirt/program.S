#include "prologue.inc"
#include "radix.inc"

main:
    bl      setup_radix
    SET_SPR LPCR, LPCR_RADIX | LPCR_EVIRT
    IN_GUEST read, GUEST_REAL
    CHECK   1, 20, 0xe40
    CHECK_ADDRESS 2, 23, read
    CHECK_SPR 3, HEIR, 0x7d4202a6
    IN_GUEST write, GUEST_REAL
    CHECK   4, 20, 0xe40
    CHECK_ADDRESS 5, 23, write
    CHECK_SPR 6, HEIR, 0x7d5003a6
    PASS

read:
    mfspr   10, 2
write:
    mtspr   16, 10
