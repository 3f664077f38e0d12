#include "prologue.inc"

# What a partition reaches with relocation off: so much from RMOR on. RMLS 8 is 32 MiB. (QEMU 7.2
# takes the last bit of RMLS for one of POWER10's, with which interrupts keep relocation on.)
.set OFFSET, 0x10000000
.set LIMIT, 0x2000000
.set LPCR_RMLS_32M, 8 << (63 - 37)
.set GUEST_MSR, MSR_SF | MSR_ME

# Goes to the partition at its address 0x8000, where it does what is in r13 and r14, and calls.
.macro IN_PARTITION
    ON_INTERRUPT .Lback\@
    SET     26, 0x8000
    mtspr   HSRR0, 26
    SET     26, GUEST_MSR
    mtspr   HSRR1, 26
    hrfid
.Lback\@:
    ON_INTERRUPT unexpected
.endm

main:
    # The partition's vectors are its own: a call of the hypervisor behind each storage interrupt.
    SET     10, OFFSET
    SET     11, 0x44000022
    stw     11, 0x300(10)
    SET     12, 0x8000
    add     10, 10, 12
    # std r14, 0(r13); sc 1
    SET     11, 0xf9cd0000
    stw     11, 0(10)
    SET     11, 0x44000022
    stw     11, 4(10)
    dcbst   0, 10
    sync
    icbi    0, 10
    SET     11, OFFSET
    icbi    0, 11
    isync
    SET_SPR RMOR, OFFSET
    SET_SPR LPCR, LPCR_RMLS_32M
    SET_SPR LPIDR, 1
    isync
    # The last doubleword that it reaches.
    SET     13, LIMIT - 8
    SET     14, 0x1122334455667788
    IN_PARTITION
    CHECK   1, 20, 0xc00
    CHECK   2, 21, 0x8008
    SET     10, OFFSET + LIMIT - 8
    ld      11, 0(10)
    CHECK   3, 11, 0x1122334455667788
    # What lies beyond is a data storage interrupt of its own.
    SET     13, LIMIT
    IN_PARTITION
    CHECK   4, 20, 0xc00
    CHECK   5, 21, 0x304
    CHECK_SPR 6, DAR, LIMIT
    CHECK_SPR 7, DSISR, 0x0a000000
    PASS
