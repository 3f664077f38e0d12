#include "prologue.inc"

main:
    ON_INTERRUPT unexpected
    RETURN_TO allowed, MSR_SF | MSR_HV | MSR_ME | MSR_VEC
allowed:
    vxor    0, 1, 2
    FAIL    1
