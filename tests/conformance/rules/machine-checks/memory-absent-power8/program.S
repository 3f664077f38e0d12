#include "prologue.inc"
#include "hash.inc"

# A real address of the first chip at which nobody answers.
.set NOWHERE, 0x0000020000000000

main:
    bl      setup_hash
    SET     13, NOWHERE
    MACHINE_CHECKS 1, 0x00200000, ld 14, 0(13)
    cmpd    21, 3
    bne     wrong
    CHECK_SPR 2, DSISR, 0x8000
    CHECK_SPR 3, DAR, NOWHERE
    SET_SPR DSISR, 0
    MACHINE_CHECKS 4, 0x00200000, std 14, 0(13)
    CHECK_SPR 5, DSISR, 0x8000
    CHECK_SPR 6, DAR, NOWHERE
    mtctr   13
    MACHINE_CHECKS 7, 0x00040000, bctr
    CHECK   8, 21, NOWHERE
    # The table.
    SET_SPR SDR1, NOWHERE
    SEGMENT 0, 0x10000000, 0x123000 | BASE_4K
    INVALIDATE_ALL
    LOAD_FAULTS 9, 0x10005000, 0x200
    CHECK_SPR 10, DSISR, 0x4000
    FETCH   0x10005000
    CHECK   11, 20, 0x200
    CHECK   12, 21, 0x10005000
    CHECK_BITS 13, 22, MACHINE_CHECK_CAUSE, 0x00180000
    PASS
wrong:
    FAIL    14
