#include "prologue.inc"

main:
    ON_INTERRUPT unexpected
    RETURN_TO allowed, MSR_SF | MSR_HV | MSR_ME | MSR_FP | MSR_VEC | MSR_VSX
allowed:
    # VR 0 is VSR 32.
    vspltisb 1, 5
    vspltisb 2, 3
    vxor    0, 1, 2
    mfvsrd  4, 32
    CHECK   1, 4, 0x0606060606060606
    mfvsrld 4, 32
    CHECK   2, 4, 0x0606060606060606
    # FPR 3 is doubleword 0 of VSR 3.
    SET     5, 0x0123456789abcdef
    mtvsrd  3, 5
    fmr     4, 3
    mfvsrd  6, 4
    CHECK   3, 6, 0x0123456789abcdef
    # VSR 3 and VR 3 are not the same.
    vspltisw 3, -1
    mfvsrd  6, 3
    CHECK   4, 6, 0x0123456789abcdef
    PASS
