#include "prologue.inc"

main:
    # Nothing else would end this wait.
    ON_INTERRUPT traced
    mfmsr   10
    ori     11, 10, MSR_SE
    mtsrr1  11
    ADDRESS 12, place
    mtsrr0  12
    rfid
place:
    wait
after:
    FAIL    1
traced:
    CHECK   2, 20, 0xd00
    CHECK_ADDRESS 3, 21, after
    PASS
