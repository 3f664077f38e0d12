#include "prologue.inc"
#include "radix.inc"

.set DAWRX_HYP, 4
.set DAWRX_KERNEL, 2
.set DAWRX_WTI, 8
.set DAWRX_DR, 0x20
.set DAWRX_DW, 0x40

main:
    bl      setup_radix
    SET_SPR DAWR0, FRAME_A
    SET_SPR DAWRX0, DAWRX_HYP | DAWRX_WTI | DAWRX_DW | (1 << 10)
    SET     13, FRAME_A
    # Two doublewords; loads are not watched.
    ON_INTERRUPT unexpected
    ld      10, 0(13)
    std     10, -8(13)
    std     10, 16(13)
    ON_INTERRUPT stored
place:
    stw     10, 12(13)
    FAIL    1
stored:
    CHECK   2, 20, 0x300
    CHECK_ADDRESS 3, 21, place
    CHECK_SPR 4, DSISR, 0x02400000
    CHECK_SPR 5, DAR, FRAME_A + 12
    # An access that begins before it and reaches into it.
    ON_INTERRUPT reached
    std     10, -4(13)
    FAIL    6
reached:
    CHECK_SPR 7, DAR, FRAME_A - 4
    # A partition's loads, and nobody else's.
    SET_SPR DAWRX0, DAWRX_KERNEL | DAWRX_WTI | DAWRX_DR
    ON_INTERRUPT unexpected
    ld      10, 0(13)
    std     10, 0(13)
    IN_GUEST guest_load, GUEST_REAL
    TO_HOST
    CHECK   8, 6, 0x300
    CHECK_SPR 9, DSISR, 0x00400000
    IN_GUEST guest_store, GUEST_REAL
    CHECK   10, 20, 0xc00
    # With WT, only relocated accesses.
    SET_SPR DAWRX0, DAWRX_KERNEL | 0x10 | DAWRX_DR
    IN_GUEST guest_load, GUEST_REAL
    CHECK   11, 20, 0xc00
    IN_GUEST guest_load, GUEST_ON
    TO_HOST
    CHECK   12, 6, 0x300
    PASS
