#include "prologue.inc"
#include "radix.inc"

# A real address of the first chip at which nobody answers.
.set NOWHERE, 0x0000020000000000
.set CAUSE, 0x083c0000

# `instruction` with MSR[ME]=1, which brings a machine check with these bits in SRR1; r3 is its address then.
.macro CHECKS number, status, instruction:vararg
    ON_INTERRUPT .Lcame\@
    RETURN_TO .Ldoes\@, MSR_SF | MSR_HV | MSR_ME
.Ldoes\@:
    \instruction
    FAIL    \number
.Lcame\@:
    CHECK   \number, 20, 0x200
    CHECK_BITS \number, 22, CAUSE, \status
    mfmsr   10
    CHECK   \number, 10, MSR_SF | MSR_HV
    ADDRESS 3, .Ldoes\@
.endm

main:
    SET     13, NOWHERE
    SET     14, 0x77
    CHECKS  1, 0x00200000, ld 14, 0(13)
    cmpd    21, 3
    bne     wrong
    CHECK_SPR 2, DSISR, 0x40
    CHECK_SPR 2, DAR, NOWHERE
    CHECK   2, 14, 0x77
    # A store that nobody waits for: no address.
    CHECKS  3, 0x08140000, std 14, 0(13)
    CHECK_SPR 3, DAR, NOWHERE
    mtctr   13
    CHECKS  4, 0x080c0000, bctr
    CHECK   5, 21, NOWHERE
    # Tables: of a partition's data, then of its instructions.
    bl      setup_radix
    STORE   GUEST_L3 + (WINDOW >> 21) * 8, DIRECTORY | NOWHERE
    INVALIDATE_ALL
    SET     13, WINDOW + 8
    IN_GUEST guest_load, GUEST_REAL
    CHECK   6, 20, 0x200
    CHECK_ADDRESS 6, 21, guest_load
    CHECK_BITS 6, 22, CAUSE, 0x00200000
    CHECK_SPR 6, DSISR, 0x20
    CHECK_SPR 6, DAR, WINDOW + 8
    IN_GUEST guest_store, GUEST_REAL
    CHECK   7, 20, 0x200
    CHECK_BITS 7, 22, CAUSE, 0x00200000
    CHECK_SPR 7, DSISR, 0x20
    SET     13, WINDOW
    IN_GUEST guest_fetch, GUEST_REAL
    CHECK   8, 20, 0x200
    CHECK   8, 21, WINDOW
    CHECK_BITS 8, 22, CAUSE, 0x08100000
    PASS
wrong:
    FAIL    9
