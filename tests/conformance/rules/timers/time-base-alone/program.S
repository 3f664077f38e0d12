#include "prologue.inc"

    # Each has its uppermost digits for a quarter of a second.
.macro  UNMOVED first
    mfspr   12, DEC
    rldicl  12, 12, 36, 60
    CHECK   \first, 12, 7
    mfspr   12, HDEC
    rldicl  12, 12, 36, 60
    CHECK   \first + 1, 12, 6
    mfspr   12, VTB
    srdi    12, 12, 32
    CHECK   \first + 2, 12, 5
.endm

main:
    SET     10, 0x78000000
    mtspr   DEC, 10
    SET     10, 0x68000000
    mtspr   HDEC, 10
    SET     10, 0x500000000
    mtspr   VTB, 10
    UNMOVED 1
    # The time base is set on, far beyond what they hold, and back.
    SET     13, 0x10000000000
    mftb    11
    add     11, 11, 13
    mtspr   TBU40, 11
    UNMOVED 4
    mftb    11
    subf    11, 13, 11
    mtspr   TBU40, 11
    UNMOVED 7
    PASS
