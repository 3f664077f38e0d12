#include "prologue.inc"

.set MSR_ON, MSR_SF | MSR_HV | MSR_ME
.set MSR_ANY_VECTOR, MSR_FP | MSR_VEC | MSR_VSX

# The instruction `code` interrupts at `vector` where `bit` alone is missing.
.macro REFUSED number, code, vector, bit
    ON_INTERRUPT .Lrefused\@
    RETURN_TO \code, MSR_ON | (MSR_ANY_VECTOR & ~(\bit))
.Lrefused\@:
    CHECK   \number, 20, \vector
    CHECK_ADDRESS \number, 21, \code
    CHECK   \number, 22, MSR_ON | (MSR_ANY_VECTOR & ~(\bit))
    # What an interrupt leaves on: HV and ME.
    mfmsr   10
    CHECK   \number, 10, MSR_ON
.endm

main:
    REFUSED 1, integer, 0xf20, MSR_VEC
    REFUSED 2, four_operands, 0xf20, MSR_VEC
    REFUSED 3, load, 0xf20, MSR_VEC
    REFUSED 5, load_high, 0xf20, MSR_VEC
    REFUSED 6, move_high, 0xf20, MSR_VEC
    REFUSED 7, splat_high, 0xf20, MSR_VEC
    REFUSED 8, logical, 0xf40, MSR_VSX
    REFUSED 9, load_low, 0xf40, MSR_VSX
    REFUSED 10, load_doublewords, 0xf40, MSR_VSX
    REFUSED 11, quad, 0xf40, MSR_VSX
    REFUSED 12, splat_low, 0xf40, MSR_VSX
    REFUSED 13, move_low, 0x800, MSR_FP
    PASS

integer:
    vxor    0, 1, 2
    FAIL    14
four_operands:
    vperm   0, 1, 2, 3
    FAIL    14
load:
    lvx     0, 0, 2
    FAIL    14
load_high:
    lxv     34, 0(2)
    FAIL    14
move_high:
    mfvsrd  3, 34
    FAIL    14
splat_high:
    mtvsrws 34, 3
    FAIL    14
logical:
    xxlor   0, 1, 2
    FAIL    14
load_low:
    lxv     2, 0(2)
    FAIL    14
load_doublewords:
    lxvd2x  34, 0, 2
    FAIL    14
quad:
    xsaddqp 2, 3, 4
    FAIL    14
splat_low:
    mtvsrws 2, 3
    FAIL    14
move_low:
    mfvsrd  3, 2
    FAIL    14
