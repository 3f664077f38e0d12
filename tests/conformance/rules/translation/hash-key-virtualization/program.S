#include "prologue.inc"
#include "hash.inc"

.set PLAIN, PTE_R | PTE_C | PTE_M
.set DATA, MSR_SF | MSR_ME | MSR_DR
.set KBV, 1 << (63 - 3)
.set SEGMENT_0, 0x123000 | KS | KP | BASE_64K

main:
    bl      setup_hash
    SETUP_PARTITION KBV
    SET_SPR AMR, 0x3000000000000000
    SEGMENT 0, 0x10000000, SEGMENT_0
    # Of key 0, which is permitted, and of key 1.
    ENTRY   0x123, 0x50000, 16, 1, PTE_L, FRAME_A | P64K | PLAIN | 2, 0, GUEST_HASH_TABLE
    IN_PARTITION 1, guest_load, 0x10050000, DATA, 0xc00
    CHANGE_SECOND FRAME_A | P64K | PLAIN | 2 | 1 << 9
    INVALIDATE_ALL
    IN_PARTITION 2, guest_load, 0x10050000, DATA, 0xe00
    FAIL    3

    .balign 8
guest_load:
    ld      14, 0(13)
    sc      1
