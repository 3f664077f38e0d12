#include "prologue.inc"
#include "hash.inc"

.set PLAIN, PTE_R | PTE_C | PTE_M
.set REAL, MSR_SF | MSR_ME
.set DATA, MSR_SF | MSR_ME | MSR_DR
.set AREA, 0x1ffffff
.set AREA_16M, 0x4001ffffff000100
.set VPM1, 1 << (63 - 1)
.set SEGMENT_0, 0x123000 | KS | KP | BASE_64K

.macro GUEST number, code, address, msr, vector
    SET     13, \address
    ON_INTERRUPT .Lback\@
    RETURN_TO \code, \msr
.Lback\@:
    ON_INTERRUPT unexpected
    CHECK   \number, 20, \vector
.endm

main:
    bl      setup_hash
    # Virtual real mode in pages of 16 MiB.
    STORE   PARTITION_TABLE + 16, GUEST_HASH_TABLE | 0x80
    SET_SPR LPIDR, 1
    SET_SPR LPCR, VPM1
    isync
    INVALIDATE_ALL
    ENTRY_1T AREA, 0x20000000, 24, 7, PTE_L, 0x20000000 | P16M | PLAIN, 0, GUEST_HASH_TABLE
    ENTRY_1T AREA, 0x5000000, 24, 7, PTE_L, LARGE_A | P16M | PLAIN, 0, GUEST_HASH_TABLE
    GUEST   1, guest_load, 0x5000000, REAL, 0xc00
    CHECK   2, 14, 0xa2
    GUEST   3, guest_load, 0x6000008, REAL, 0xe00
    CHECK_SPR 4, ASDR, AREA_16M
    GUEST   5, guest_fetch, 0x6000000, REAL, 0xe20
    CHECK_SPR 6, ASDR, AREA_16M
    # Beyond the area of 1 TiB is nothing.
    GUEST   7, guest_load, 0x0000010005000000, REAL, 0xe00
    CHECK_SPR 8, HDSISR, 0x40000000
    # With relocation on.
    SEGMENT 0, 0x10000000, SEGMENT_0
    GUEST   9, guest_store, 0x10050008, DATA, 0xe00
    CHECK_SPR 10, HDSISR, 0x42000000
    CHECK_SPR 11, ASDR, SEGMENT_0
    # A page that is not cached refuses an operand that is not aligned, and an atomic one.
    ENTRY   0x123, 0x50000, 16, 1, PTE_L, FRAME_A | P64K | PTE_R | PTE_C | PTE_I | PTE_G | 2, 0, GUEST_HASH_TABLE
    GUEST   12, guest_load, 0x10050000, DATA, 0xc00
    CHECK   13, 14, 0xaa
    GUEST   14, guest_reserve, 0x10050000, DATA, 0xe00
    CHECK_SPR 15, HDSISR, 0x04000000
    CHECK_SPR 16, ASDR, SEGMENT_0
    PASS

    .balign 8
guest_load:
    ld      14, 0(13)
    sc      1
guest_store:
    std     14, 0(13)
    sc      1
guest_reserve:
    ldarx   14, 0, 13
    sc      1
guest_fetch:
    mtctr   13
    bctr
