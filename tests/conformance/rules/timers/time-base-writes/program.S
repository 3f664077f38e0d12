#include "prologue.inc"

main:
    # TBU40 replaces the upper 40 bits; the lower 24 go on.
    SET     10, 0x0123456789000000
    mtspr   TBU40, 10
    mftb    11
    srdi    11, 11, 24
    CHECK   1, 11, 0x0123456789
    # TBL and TBU.
    li      10, 0
    mtspr   TBL, 10
    li      10, 77
    mtspr   TBU, 10
    mftb    11
    srdi    12, 11, 32
    CHECK   2, 12, 77
    rldicl  12, 11, 0, 32
    srdi    12, 12, 20
    CHECK   3, 12, 0
    PASS
