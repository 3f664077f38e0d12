#include "prologue.inc"
#include "hash.inc"

.set PLAIN, PTE_R | PTE_C | PTE_M
.set REAL, MSR_SF | MSR_ME
.set DATA, MSR_SF | MSR_ME | MSR_DR
.set VPM1, 1 << (63 - 1)
.set SEGMENT_0, 0x123000 | KS | KP | BASE_64K

main:
    bl      setup_hash
    SETUP_PARTITION VPM1
    ENTRY_1T AREA, 0x5000000, 24, 7, PTE_L, LARGE_A | P16M | PLAIN, 0, GUEST_HASH_TABLE
    IN_PARTITION 1, guest_load, 0x5000000, REAL, 0xc00
    CHECK   2, 14, 0xa2
    IN_PARTITION 3, guest_load, 0x6000008, REAL, 0xe00
    CHECK_SPR 4, ASDR, AREA_16M
    IN_PARTITION 5, guest_fetch, 0x6000000, REAL, 0xe20
    CHECK_SPR 6, ASDR, AREA_16M
    # With relocation on.
    SEGMENT 0, 0x10000000, SEGMENT_0
    IN_PARTITION 7, guest_store, 0x10050008, DATA, 0xe00
    CHECK_SPR 8, HDSISR, 0x42000000
    CHECK_SPR 9, ASDR, SEGMENT_0
    PASS

    .balign 8
guest_load:
    ld      14, 0(13)
    sc      1
guest_store:
    std     14, 0(13)
    sc      1
guest_fetch:
    mtctr   13
    bctr
