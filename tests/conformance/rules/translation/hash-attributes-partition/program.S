#include "prologue.inc"
#include "hash.inc"

.set PLAIN, PTE_R | PTE_C | 2
.set DATA, MSR_SF | MSR_ME | MSR_DR
.set VPM1, 1 << (63 - 1)
.set SEGMENT_0, 0x123000 | KS | KP | BASE_64K

main:
    bl      setup_hash
    SETUP_PARTITION VPM1
    SEGMENT 0, 0x10000000, SEGMENT_0
    ENTRY   0x123, 0x50000, 16, 1, PTE_L, FRAME_A | P64K | PLAIN | PTE_I | PTE_G, 0, GUEST_HASH_TABLE
    IN_PARTITION 1, guest_load, 0x10050000, DATA, 0xc00
    CHECK   2, 14, 0xaa
    IN_PARTITION 3, guest_reserve, 0x10050000, DATA, 0xe00
    CHECK_SPR 4, HDSISR, 0x04000000
    CHECK_SPR 5, ASDR, SEGMENT_0
    CHANGE_SECOND FRAME_A | P64K | PLAIN | 0x70
    INVALIDATE_ALL
    IN_PARTITION 6, guest_reserve, 0x10050000, DATA, 0xc00
    CHECK   7, 14, 0xaa
    PASS

    .balign 8
guest_load:
    ld      14, 0(13)
    sc      1
guest_reserve:
    ldarx   14, 0, 13
    sc      1
