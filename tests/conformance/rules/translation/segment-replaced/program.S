#include "prologue.inc"
#include "hash.inc"

.set PLAIN, PTE_R | PTE_C | PTE_M

main:
    bl      setup_hash
    # Effective segment 0 is one virtual segment, then another one, with relocation on all the time.
    SEGMENT 0, 0, 0x123000 | BASE_4K
    ENTRY   0x123, 0x5000, 12, 0, 0, FRAME_A | PLAIN
    ENTRY   0x456, 0x5000, 12, 0, 0, FRAME_B | PLAIN
    SET     13, 0x5000
    SET     15, 0x08000000
    SET     16, 0x456000 | BASE_4K
    DATA_ON
    ld      14, 0(13)
    slbmte  16, 15
    isync
    ld      17, 0(13)
    DATA_OFF
    CHECK   1, 14, 0xaa
    CHECK   2, 17, 0xbb
    # A second entry for an address that is known already.
    SET     15, 0x08000001
    li      14, 0
    li      17, 0
    ON_INTERRUPT both
    DATA_ON
    ld      14, 0(13)
    slbmte  16, 15
    isync
    ld      17, 0(13)
    DATA_OFF
    FAIL    3
both:
    ON_INTERRUPT unexpected
    CHECK   4, 20, 0x200
    CHECK   5, 14, 0xbb
    CHECK   6, 17, 0
    PASS
