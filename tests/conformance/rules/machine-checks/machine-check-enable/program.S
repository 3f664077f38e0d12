#include "prologue.inc"
#include "radix.inc"

main:
    bl      setup_radix
    IN_GUEST by_rfid, GUEST_REAL
    CHECK   1, 20, 0xc00
    CHECK   2, 22, GUEST_REAL
    IN_GUEST by_mtmsrd, GUEST_REAL
    CHECK   3, 22, GUEST_REAL
    PASS

by_rfid:
    ADDRESS 10, back
    mtsrr0  10
    SET     10, MSR_SF
    mtsrr1  10
    rfid
by_mtmsrd:
    SET     10, MSR_SF
    mtmsrd  10
back:
    sc      1
