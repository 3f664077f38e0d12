#include "prologue.inc"

main:
    SET     13, 0x0000020000000000
    RETURN_TO without, MSR_SF | MSR_HV
without:
    ld      14, 0(13)
    FAIL    1
