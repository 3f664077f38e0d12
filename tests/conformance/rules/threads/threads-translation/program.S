#include "prologue.inc"
#include "threads.inc"
#include "hash.inc"

.set PLAIN, PTE_R | PTE_C | PTE_M
.set PLACE, 0x10005000
# What the other thread finds after this one has gone from LPID 0 to 1.
.ifdef Power8
.set LPID, 1
.set FOUND, 0xbb
.else
.set LPID, 0
.set FOUND, 0xaa
.endif

CELL seen

main:
    bl      setup_hash
    ENTRY   0x123, 0x5000, 12, 0, 0, FRAME_A | PLAIN
    ENTRY   0x123, 0x5000, 12, 0, 0, FRAME_B | PLAIN, 0, GUEST_HASH_TABLE
    START   1, other
    AWAIT   seen, 1
.ifdef Power8
    SET_SPR SDR1, GUEST_HASH_TABLE
.endif
    SET_SPR LPIDR, 1
    AWAIT   seen, 2
    # The TLB has the translations of both, so that LPIDR alone says which it is.
    SET_SPR LPIDR, 0
    TELL    seen, 3
    AWAIT   seen, 4
    PASS

other:
    ON_INTERRUPT unexpected
    SET_SPR LPCR, 0
    SEGMENT 0, PLACE, 0x123000
    READS   1, PLACE, 0xaa
    # It stays with relocation on over the switch.
    SET     13, PLACE
    li      15, 5000
    mtctr   15
    TELL    seen, 1
    DATA_ON
1:  ld      14, 0(13)
    cmpdi   14, 0xbb
    bdnzf   2, 1b
    DATA_OFF
    CHECK   2, 14, FOUND
    CHECK_SPR 3, LPIDR, LPID
.ifdef Power8
    CHECK_SPR 4, SDR1, GUEST_HASH_TABLE
.endif
    TELL    seen, 2
    AWAIT   seen, 3
    CHECK_SPR 5, LPIDR, 0
    READS   6, PLACE, 0xaa
    TELL    seen, 4
    b       .
