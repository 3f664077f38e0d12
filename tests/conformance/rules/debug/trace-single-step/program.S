#include "prologue.inc"

.set TRACED, MSR_SF | MSR_HV | MSR_ME

main:
    ON_INTERRUPT first
    RETURN_TO begin_step, TRACED | MSR_SE
begin_step:
    li      10, 1
second_place:
    ld      11, 0(10)
    b       .

first:
    CHECK   1, 20, 0xd00
    CHECK_ADDRESS 2, 21, second_place
    CHECK   3, 10, 1
    CHECK_BITS 4, 22, 0x783f0000, 0x40000000
    CHECK_BITS 5, 22, 0xffff, MSR_ME | MSR_SE
    # Branch trace: straight code passes, taken and untaken branches do not.
    ON_INTERRUPT branched
    RETURN_TO begin_branch, TRACED | MSR_BE
begin_branch:
    li      10, 2
    li      10, 3
    mtcrf   1, 10
    bc      4, 31, not_here
behind:
    li      10, 4
not_here:
    b       .
branched:
    CHECK   6, 20, 0xd00
    CHECK   7, 10, 3
    CHECK_ADDRESS 8, 21, behind
    # Loads and stores are marked, SRR1[35] and [36].
    ADDRESS 13, cell
    ON_INTERRUPT loaded
    RETURN_TO begin_load, TRACED | MSR_SE
begin_load:
    ld      10, 0(13)
    b       .
loaded:
    CHECK_BITS 9, 22, 0x783f0000, 0x50000000
    ON_INTERRUPT stored
    RETURN_TO begin_store, TRACED | MSR_SE
begin_store:
    std     10, 0(13)
    b       .
stored:
    CHECK_BITS 10, 22, 0x783f0000, 0x48000000
    PASS

    .balign 8
cell: .quad 0
