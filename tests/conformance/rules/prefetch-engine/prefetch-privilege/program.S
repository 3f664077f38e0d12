#include "prologue.inc"

# The prefetch engine is the hypervisor's: what a partition that tries gets, and that nothing is written.
.set MPPR, 184
.set TABLE, 0x10000000
.set LOG_L2, 2 << (63 - 9)
.set LPCR_RMLS_16G, 1 << (63 - 37)
.set PRIVILEGED, 0x00040000

# `instruction` in `msr` brings a program interrupt of the partition's own, for privilege.
.macro REFUSED number, msr, instruction:vararg
    ON_INTERRUPT .Lcame\@
    SET     0, TABLE | LOG_L2
    mr      5, 0
    RETURN_TO .Ldoes\@, \msr
.Ldoes\@:
    \instruction
    # It was executed: the call leads to the hypervisor.
    sc      1
.Lcame\@:
    CHECK   \number, 20, 0x700
    CHECK_BITS \number, 22, 0x783f0000, PRIVILEGED
    CHECK_ADDRESS \number, 21, .Ldoes\@
    # Only the hypervisor can go on.
    ON_INTERRUPT .Lback\@
    sc      1
.Lback\@:
    CHECK   \number, 20, 0xc00
    ON_INTERRUPT unexpected
.endm

main:
    SET     10, TABLE
    SET     11, 0x1122334455667788
    std     11, 0(10)
    # The partition's addresses are real ones here, and its vectors the hypervisor's.
    SET_SPR RMOR, 0
    SET_SPR LPCR, LPCR_RMLS_16G
    SET_SPR LPIDR, 1
    isync
    REFUSED 1, MSR_SF | MSR_ME, .long 0x7c002fe4
    REFUSED 2, MSR_SF | MSR_ME, mtspr MPPR, 5
    REFUSED 3, MSR_SF | MSR_ME, mfspr 5, MPPR
    SET     10, TABLE
    ld      11, 0(10)
    CHECK   4, 11, 0x1122334455667788
    # The hypervisor may.
    SET     0, TABLE | LOG_L2
    .long   0x7c002fe4
    ld      11, 0(10)
    CHECK   5, 11, 0
    mfspr   11, MPPR
    CHECK   6, 11, 0
    PASS
