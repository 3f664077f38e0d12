#include "prologue.inc"
#include "radix.inc"

# A real address of the first chip at which nobody answers.
.set NOWHERE, 0x0000020000000000

main:
    SET     13, NOWHERE
    SET     14, 0x77
    MACHINE_CHECKS 1, 0x00200000, ld 14, 0(13)
    cmpd    21, 3
    bne     wrong
    CHECK_SPR 2, DSISR, 0x40
    CHECK_SPR 2, DAR, NOWHERE
    CHECK   2, 14, 0x77
    # A store that nobody waits for: no address.
    MACHINE_CHECKS 3, 0x08140000, std 14, 0(13)
    CHECK_SPR 3, DAR, NOWHERE
    mtctr   13
    MACHINE_CHECKS 4, 0x080c0000, bctr
    CHECK   5, 21, NOWHERE
    # Tables: of a partition's data, then of its instructions.
    bl      setup_radix
    STORE   GUEST_L3 + (WINDOW >> 21) * 8, DIRECTORY | NOWHERE
    INVALIDATE_ALL
    SET     13, WINDOW + 8
    IN_GUEST guest_load, GUEST_REAL
    CHECK   6, 20, 0x200
    CHECK_ADDRESS 6, 21, guest_load
    CHECK_BITS 6, 22, MACHINE_CHECK_CAUSE, 0x00200000
    CHECK_SPR 6, DSISR, 0x20
    CHECK_SPR 6, DAR, WINDOW + 8
    IN_GUEST guest_store, GUEST_REAL
    CHECK   7, 20, 0x200
    CHECK_BITS 7, 22, MACHINE_CHECK_CAUSE, 0x00200000
    CHECK_SPR 7, DSISR, 0x20
    SET     13, WINDOW
    IN_GUEST guest_fetch, GUEST_REAL
    CHECK   8, 20, 0x200
    CHECK   8, 21, WINDOW
    CHECK_BITS 8, 22, MACHINE_CHECK_CAUSE, 0x08100000
    PASS
wrong:
    FAIL    9
