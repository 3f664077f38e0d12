#include "prologue.inc"
#include "radix.inc"
#include "vectors.inc"

.set KERNEL, GUEST_ON | MSR_REST | MSR_EE

# The partition's own: SRR0, SRR1 without a cause, and DAR. (ISA 3.0 leaves DSISR undefined.)
.macro ALIGNMENT number, code, msr
    TO_GUEST \number, \code, \msr, 0x600, \code
    CHECK_SPR \number, DAR, WINDOW + 0x11
    CHECK_SPR \number, HDAR, MARK
    CHECK_SPR \number, HDSISR, MARK
    HEIR_IS \number, MARK
.endm

main:
    bl      setup_radix
    SET     13, WINDOW
    SET     14, 0x11
    ALIGNMENT 1, misaligned_word, KERNEL
    ALIGNMENT 2, misaligned_word, KERNEL | MSR_PR
    ALIGNMENT 3, misaligned_word, GUEST_REAL
    ALIGNMENT 4, misaligned_doubleword, KERNEL
    # Ordinary accesses need no alignment.
    IN_GUEST unaligned, GUEST_ON
    CHECK   5, 20, 0xc00
    PASS

misaligned_word:
    lwarx   10, 13, 14
misaligned_doubleword:
    ldarx   10, 13, 14
unaligned:
    ldx     10, 13, 14
    stdx    10, 13, 14
    lwzx    10, 13, 14
    sthx    10, 13, 14
    sc      1
