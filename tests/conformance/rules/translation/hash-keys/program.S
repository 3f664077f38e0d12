#include "prologue.inc"
#include "hash.inc"

.set PLAIN, PTE_R | PTE_C | PTE_M
.set AT, 0x10005000
# Key 21: 10101, of which the two high bits lie elsewhere.
.set KEY_21, (2 << 60) | (5 << 9)
.set NO_STORE, 2 << (2 * (31 - 21))
.set NO_LOAD, 1 << (2 * (31 - 21))

# (QEMU keeps the rights of what it has translated.)
.macro KEYS spr, value
    SET_SPR \spr, \value
    isync
    INVALIDATE_ALL
.endm

main:
    bl      setup_hash
    SEGMENT 0, AT, 0x123000
    ENTRY   0x123, 0x5000, 12, 0, 0, CODE | PLAIN | KEY_21
    READS   1, AT, 0x4400000244000002
    KEYS    AMR, NO_STORE
    READS   2, AT, 0x4400000244000002
    STORE_REFUSED 3, AT, 0x02200000
    FETCHES 4, AT
    KEYS    AMR, NO_LOAD
    LOAD_REFUSED 5, AT, 0x00200000
    WRITES  AT, 0x4400000244000002
    FETCHES 6, AT
    # Every key but this one.
    KEYS    AMR, ~(NO_STORE | NO_LOAD)
    READS   7, AT, 0x4400000244000002
    WRITES  AT, 0x4400000244000002
    KEYS    AMR, 0
    KEYS    IAMR, NO_LOAD
    READS   8, AT, 0x4400000244000002
    FETCH_REFUSED 9, AT, 0x400, 0x00200000
    KEYS    IAMR, 0
    # Rights and key together.
    CHANGE_SECOND CODE | PLAIN | KEY_21 | 3
    INVALIDATE_ALL
    KEYS    AMR, NO_STORE
    STORE_REFUSED 10, AT, 0x0a200000
    KEYS    AMR, 0
    STORE_REFUSED 11, AT, 0x0a000000
    PASS
