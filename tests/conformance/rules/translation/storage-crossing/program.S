#include "prologue.inc"
#include "radix.inc"
#include "vectors.inc"

# Operands that begin in a page that is there and end in one that is not.
main:
    bl      setup_radix
    STORE   PID1_L4 + 8, 0
    STORE   GUEST_L4 + 3 * 8, 0
    STORE   WINDOW + 0xff8, 0x5555555566666666
    STORE   WINDOW + 0x2ff8, 0x5555555566666666
    INVALIDATE_ALL
    # DAR is a byte of the operand in the page that is missing.
    SET     13, WINDOW + 0xffc
    TO_GUEST 1, guest_load, GUEST_ON, 0x300, guest_load
    mfspr   10, DAR
    CHECK_BITS 2, 10, ~3, WINDOW + 0x1000
    CHECK_SPR 3, DSISR, 0x40000000
    # Nothing of a store is done before it is known that all can be.
    li      14, 0
    TO_GUEST 4, guest_store, GUEST_ON, 0x300, guest_store
    mfspr   10, DAR
    CHECK_BITS 5, 10, ~3, WINDOW + 0x1000
    CHECK_SPR 6, DSISR, 0x42000000
    SET     13, WINDOW + 0xff8
    ld      10, 0(13)
    CHECK   7, 10, 0x5555555566666666
    # The same in the partition's scope.
    SET     13, WINDOW + 0x2ffc
    TO_HOST_BY_HSRR 8, guest_store, GUEST_REAL, 0xe00, guest_store
    mfspr   10, HDAR
    CHECK_BITS 9, 10, ~3, WINDOW + 0x3000
    CHECK_SPR 10, HDSISR, 0x42000000
    mfspr   10, ASDR
    CHECK_BITS 11, 10, ~0xfff, WINDOW + 0x3000
    SET     13, WINDOW + 0x2ff8
    ld      10, 0(13)
    CHECK   12, 10, 0x5555555566666666
    # Update forms leave their base, loads their target.
    SET     13, WINDOW + 0xff0
    li      10, 77
    IN_GUEST update, GUEST_ON
    TO_HOST
    CHECK   13, 6, 0x300
    CHECK   14, 13, WINDOW + 0xff0
    CHECK   15, 10, 77
    PASS

update:
    ldu     10, 0x10(13)
