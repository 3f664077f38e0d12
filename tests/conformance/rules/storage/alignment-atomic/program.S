#include "prologue.inc"
#include "radix.inc"
#include "vectors.inc"

.macro ALIGNMENT number, code, address
    SET     13, \address
    TO_GUEST \number, \code, GUEST_ON, 0x600, \code
    CHECK_SPR \number, DAR, \address
.endm

.macro WORKS number, code, address
    SET     13, \address
    IN_GUEST \code, GUEST_ON
    CHECK   \number, 20, 0xc00
.endm

main:
    bl      setup_radix
    # Quadwords lie in quadwords.
    ALIGNMENT 1, quadword_load, WINDOW + 8
    ALIGNMENT 2, quadword_store, WINDOW + 8
    ALIGNMENT 3, quadword_reserve, WINDOW + 8
    ALIGNMENT 4, quadword_conditional, WINDOW + 8
    # Operands of atomic operations are aligned ...
    ALIGNMENT 5, word_operation, WINDOW + 2
    ALIGNMENT 6, doubleword_operation, WINDOW + 4
    ALIGNMENT 7, store_operation, WINDOW + 2
    # ... and a pair lies in a block of 32 bytes.
    ALIGNMENT 8, pair_operation, WINDOW + 28
    WORKS   9, quadword_load, WINDOW + 16
    WORKS   10, word_operation, WINDOW + 28
    WORKS   11, doubleword_operation, WINDOW + 24
    WORKS   12, pair_operation, WINDOW + 24
    PASS

quadword_load:
    lq      10, 0(13)
    sc      1
quadword_store:
    stq     10, 0(13)
    sc      1
quadword_reserve:
    lqarx   10, 0, 13
    sc      1
quadword_conditional:
    stqcx.  10, 0, 13
    sc      1
word_operation:
    .long   0x7d4d048c      # lwat r10, r13, 0
    sc      1
doubleword_operation:
    .long   0x7d4d04cc      # ldat r10, r13, 0
    sc      1
store_operation:
    .long   0x7d4d058c      # stwat r10, r13, 0
    sc      1
pair_operation:
    .long   0x7d4dc48c      # lwat r10, r13, 24: fetch and increment bounded
    sc      1
