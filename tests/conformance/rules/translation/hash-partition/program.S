#include "prologue.inc"
#include "hash.inc"

.set PLAIN, PTE_R | PTE_C | PTE_M
.set REAL, MSR_SF | MSR_ME
.set DATA, MSR_SF | MSR_ME | MSR_DR
.set AREA, 0x1ffffff
.set VPM1, 1 << (63 - 1)

# The partition executes `code`, which is in its virtual real mode area at the same address.
.macro IN_GUEST code, msr
    ON_INTERRUPT .Lback\@
    RETURN_TO \code, \msr
.Lback\@:
    ON_INTERRUPT unexpected
.endm
.macro GUEST number, code, address, msr, vector
    SET     13, \address
    IN_GUEST \code, \msr
    CHECK   \number, 20, \vector
.endm

# An interrupt that the partition takes itself.
.macro OWN number, code, address, msr, vector
    SET     13, \address
    IN_GUEST \code, \msr
    mr      6, 20
    ON_INTERRUPT .Lhost\@
    sc      1
.Lhost\@:
    ON_INTERRUPT unexpected
    CHECK   \number, 6, \vector
.endm

main:
    bl      setup_hash
    SET_SPR LPIDR, 1
    isync
    # The vectors, the program itself, and a page with something in it.
    ENTRY_1T AREA, 0, 12, 0, 0, PLAIN, 0, GUEST_HASH_TABLE
    ENTRY_1T AREA, 0x1000, 12, 0, 0, 0x1000 | PLAIN, 0, GUEST_HASH_TABLE
    .set    page, 0x20000000
    .rept   8
    ENTRY_1T AREA, page, 12, 7, 0, page | PLAIN, 0, GUEST_HASH_TABLE
    .set    page, page + 0x1000
    .endr
    ENTRY_1T AREA, 0x5000, 12, 0, 0, FRAME_A | PLAIN, 0, GUEST_HASH_TABLE
    GUEST   1, guest_load, 0x5000, REAL, 0xc00
    CHECK   2, 14, 0xaa
    # The top four bits do not count.
    GUEST   3, guest_load, 0xc000000000005000, REAL, 0xc00
    CHECK   4, 14, 0xaa
    # What the area does not have goes to the hypervisor, whatever VPM1 says.
    GUEST   5, guest_load, 0x6008, REAL, 0xe00
    CHECK_SPR 6, HDSISR, 0x40000000
    CHECK_SPR 7, HDAR, 0x6008
    CHECK_ADDRESS 8, 23, guest_load
    CHECK   9, 24, REAL
    GUEST   10, guest_store, 0x6008, REAL, 0xe00
    CHECK_SPR 11, HDSISR, 0x42000000
    GUEST   12, guest_fetch, 0x6000, REAL, 0xe20
    CHECK   13, 23, 0x6000
    CHECK_BITS 14, 24, 0x783f0000, 0x40000000
    # With relocation on: a segment is the partition's own matter, a page with VPM1=0 too.
    OWN     15, guest_load, 0x10005000, DATA, 0x380
    SEGMENT 0, 0x10000000, 0x123000 | KS
    OWN     16, guest_load, 0x10005010, DATA, 0x300
    CHECK_SPR 17, DSISR, 0x40000000
    CHECK_SPR 18, DAR, 0x10005010
    SET_SPR LPCR, VPM1
    isync
    GUEST   19, guest_load, 0x10005010, DATA, 0xe00
    CHECK_SPR 20, HDSISR, 0x40000000
    CHECK_SPR 21, HDAR, 0x10005010
    ENTRY   0x123, 0x5000, 12, 0, 0, FRAME_B | PLAIN, 0, GUEST_HASH_TABLE
    GUEST   22, guest_load, 0x10005010, DATA, 0xe00
    CHECK_SPR 23, HDSISR, 0x08000000
    OWN     24, guest_load, 0x20005000, DATA, 0x380
    PASS

    .balign 8
guest_load:
    ld      14, 0(13)
    b       guest_back
guest_store:
    std     14, 0(13)
guest_back:
    sc      1
guest_fetch:
    mtctr   13
    bctr
