#include "prologue.inc"
#include "hash.inc"

.set PLAIN, PTE_R | PTE_C | PTE_M
.set REAL, MSR_SF | MSR_ME
.set VPM1, 1 << (63 - 1)

main:
    bl      setup_hash
    SETUP_PARTITION VPM1
    ENTRY_1T AREA, 0x5000000, 24, 7, PTE_L, LARGE_A | P16M | PLAIN, 0, GUEST_HASH_TABLE
    IN_PARTITION 1, guest_load, 0x5000000, REAL, 0xc00
    IN_PARTITION 2, guest_load, 0x0000010005000000, REAL, 0xe00
    CHECK_SPR 3, HDSISR, 0x40000000
    PASS

    .balign 8
guest_load:
    ld      14, 0(13)
    sc      1
