#include "prologue.inc"
#include "hash.inc"

.set BARE, FRAME_A | PTE_M | 0x800
.set AT, 0x10005000

main:
    bl      setup_hash
    SEGMENT 0, AT, 0x123000
    ENTRY   0x123, 0x5000, 12, 0, 0, BARE
    READS   1, AT, 0xaa
    CHECK_SECOND 2, BARE | PTE_R
    # The entry that the load left in the TLB does not do for a store.
    WRITES  AT, 0xab
    CHECK_SECOND 3, BARE | PTE_R | PTE_C
    # A store first.
    INVALIDATE_ALL
    CHANGE_SECOND BARE
    INVALIDATE_ALL
    WRITES  AT, 0xac
    CHECK_SECOND 4, BARE | PTE_R | PTE_C
    # What is refused sets nothing.
    CHANGE_SECOND BARE | 3
    INVALIDATE_ALL
    STORE_REFUSED 5, AT, 0x0a000000
    CHECK_SECOND 6, BARE | 3
    # A fetch, and a page under the secondary hash.
    ENTRY   0x123, 0x7000, 12, 3, 0, CODE | PTE_M, PTE_H
    FETCHES 7, 0x10007000
    CHECK_SECOND 8, CODE | PTE_M | PTE_R
    PASS
