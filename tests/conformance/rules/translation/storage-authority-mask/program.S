#include "prologue.inc"
#include "radix.inc"
#include "vectors.inc"

.set NO_WRITE, 1 << 63
.set NO_READ, 1 << 62
# (QEMU keeps the rights of what it has translated.)
.macro MASK register, value
    SET_SPR \register, \value
    isync
    INVALIDATE_ALL
.endm
.set PROBLEM, GUEST_ON | MSR_PR | MSR_EE

.macro WORKS number, code, place, msr
    SET     13, \place
    IN_GUEST \code, \msr
    CHECK   \number, 20, 0xc00
.endm

main:
    bl      setup_radix
    # The code itself on privileged pages, which the masks say nothing of.
    .set    page, 0x20000000
    STORE   PID1_L3 + (page >> 21) * 8, PRIVILEGED_LEAF | page
    INVALIDATE_ALL
    MASK    AMR, NO_READ
    SET     13, WINDOW + 8
    TO_GUEST 1, guest_load, GUEST_ON, 0x300, guest_load
    DESCRIBED 1, WINDOW + 8, 0x08000000
    WORKS   2, guest_store, WINDOW, GUEST_ON
    MASK    AMR, NO_WRITE
    SET     13, WINDOW + 8
    TO_GUEST 3, guest_store, GUEST_ON, 0x300, guest_store
    DESCRIBED 3, WINDOW + 8, 0x0a000000
    WORKS   4, guest_load, WINDOW, GUEST_ON
    # Other keys, and instructions, are not AMR's.
    MASK    AMR, ~(NO_READ | NO_WRITE)
    WORKS   5, guest_load, WINDOW, GUEST_ON
    MASK    AMR, NO_READ | NO_WRITE
    STORE   WINDOW, 0x44000022      # sc 1, in the second word
    SET     13, WINDOW
    dcbst   0, 13
    sync
    icbi    0, 13
    isync
    WORKS   6, WINDOW + 4, WINDOW, GUEST_ON
    # IAMR takes the right to execute.
    MASK    IAMR, 1 << 62
    TO_GUEST 7, WINDOW + 4, GUEST_ON, 0x400, WINDOW + 4, 0x10000000
    DESCRIBED 7
    MASK    IAMR, 1 << 63
    WORKS   8, WINDOW + 4, WINDOW, GUEST_ON
    # Problem state has no key.
    MASK    IAMR, 1 << 62
    STORE   PID1_L3 + (page >> 21) * 8, LEAF | page
    INVALIDATE_ALL
    IN_GUEST WINDOW + 4, PROBLEM
    CHECK   9, 20, 0xc00
    WORKS   10, guest_load, WINDOW, PROBLEM
    PASS
