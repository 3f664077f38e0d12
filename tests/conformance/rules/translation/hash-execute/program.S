#include "prologue.inc"
#include "hash.inc"

.set PLAIN, PTE_R | PTE_C | PTE_M
.set PROBLEM, FETCH_MSR | MSR_PR | MSR_EE | MSR_DR
.set AT, 0x10005000

main:
    bl      setup_hash
    SEGMENT 0, AT, 0x123000
    ENTRY   0x123, 0x5000, 12, 0, 0, CODE | PLAIN
    FETCHES 1, AT
    FETCHES 2, AT, PROBLEM
    # No-execute and guarded pages.
    CHANGE_SECOND CODE | PLAIN | PTE_N
    INVALIDATE_ALL
    FETCH_REFUSED 3, AT, 0x400, 0x10000000
    CHANGE_SECOND CODE | PLAIN | PTE_G
    INVALIDATE_ALL
    FETCH_REFUSED 4, AT, 0x400, 0x10000000
    # A page that may not be read: the keys of privileged and of problem state.
    CHANGE_SECOND CODE | PLAIN
    INVALIDATE_ALL
    CLEAR_SEGMENTS
    SEGMENT 0, AT, 0x123000 | KS
    FETCH_REFUSED 5, AT, 0x400, 0x08000000
    FETCHES 6, AT, PROBLEM
    CLEAR_SEGMENTS
    SEGMENT 0, AT, 0x123000 | KP
    FETCHES 7, AT
    FETCH_REFUSED 8, AT, 0x400, 0x08000000, PROBLEM
    # No page, and a segment that is not for execution, page or not.
    FETCH_REFUSED 9, AT + 0x1000, 0x400, 0x40000000
    CLEAR_SEGMENTS
    SEGMENT 0, AT, 0x123000 | SEGMENT_N
    FETCH_REFUSED 10, AT, 0x400, 0x10000000
    FETCH_REFUSED 11, AT + 0x1000, 0x400, 0x10000000
    PASS
