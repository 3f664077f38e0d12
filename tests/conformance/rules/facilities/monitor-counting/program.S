#include "prologue.inc"

main:
    # PMC5 and PMC6 are frozen, PMC1 to PMC4 have no event; then they have one.
    SET_SPR 795, 0x10
    SET_SPR 798, 0x02020202
    FAIL    1
