#include "prologue.inc"
#include "radix.inc"

.set PROBLEM, GUEST_ON | MSR_PR | MSR_EE
.set FC, 0x80000000
.set PMCC, 1 << 18

# Problem state at `code` comes as far as the system call behind it.
.macro ALLOWED number, code
    IN_GUEST \code, PROBLEM
    TO_HOST
    CHECK   \number, 6, 0xc00
.endm

# The facility is unavailable to problem state at `code`, for the performance monitor.
.macro UNAVAILABLE number, code
    SET_SPR FSCR, 0
    IN_GUEST \code, PROBLEM
    TO_HOST
    CHECK   \number, 6, 0xf60
    CHECK_ADDRESS \number, 7, \code
    mfspr   10, FSCR
    srdi    10, 10, 56
    CHECK   \number, 10, 3
.endm

# What problem state does at `code` is left to the hypervisor.
.macro ASSISTED number, code
    IN_GUEST \code, PROBLEM
    CHECK   \number, 20, 0xe40
    CHECK_ADDRESS \number, 23, \code
.endm

.macro CONTROL value
    SET_SPR 795, FC | (\value) * PMCC
.endm

main:
    bl      setup_radix
    # PMC5 and PMC6 count outside of the performance monitor while the run latch is on.
    SET_SPR 152, 0
    SET_SPR HFSCR, 1 << 3
    CONTROL 0
    ALLOWED 1, read_mmcr0
    ALLOWED 2, read_mmcr2
    ALLOWED 3, read_pmc1
    ALLOWED 4, read_pmc6
    ASSISTED 5, write_mmcr0
    ASSISTED 6, write_mmcr2
    ASSISTED 7, write_pmc1
    ASSISTED 8, write_pmc6
    CONTROL 1
    UNAVAILABLE 0x11, read_mmcr0
    UNAVAILABLE 0x12, read_mmcr2
    UNAVAILABLE 0x13, read_pmc1
    UNAVAILABLE 0x14, read_pmc6
    UNAVAILABLE 0x15, write_mmcr0
    UNAVAILABLE 0x16, write_mmcr2
    UNAVAILABLE 0x17, write_pmc1
    UNAVAILABLE 0x18, write_pmc6
    CONTROL 2
    ALLOWED 0x21, read_mmcr0
    ALLOWED 0x22, read_mmcr2
    ALLOWED 0x23, read_pmc1
    ALLOWED 0x24, read_pmc6
    SET     10, 0xffffffff80000000
    ALLOWED 0x25, write_mmcr0
    CHECK_SPR 0x25, 795, FC | 2 * PMCC
    SET     10, 0xffffffffffffffff
    ALLOWED 0x26, write_mmcr2
    CHECK_SPR 0x26, 785, 0x4020100804020000
    SET     10, 0x12345678
    ALLOWED 0x27, write_pmc1
    CHECK_SPR 0x27, 787, 0x12345678
    ALLOWED 0x28, write_pmc6
    CHECK_SPR 0x28, 792, 0x12345678
    CONTROL 3
    ALLOWED 0x31, read_mmcr0
    CHECK   0x31, 10, FC
    SET_SPR 785, 0xffffffffffffffff
    ALLOWED 0x32, read_mmcr2
    CHECK   0x32, 10, 0x4020100804020000
    ALLOWED 0x33, read_pmc1
    UNAVAILABLE 0x34, read_pmc6
    UNAVAILABLE 0x35, write_pmc6
    SET     10, 0x1234
    ALLOWED 0x36, write_pmc1
    CHECK_SPR 0x36, 787, 0x1234
    # What hides bits from problem state hides none from others.
    CONTROL 2
    CHECK_SPR 0x41, 779, FC | 2 * PMCC
    CHECK_SPR 0x42, 769, 0xffffffffffffffff
    SET_SPR 779, FC | 3 * PMCC
    CHECK_SPR 0x43, 795, FC | 3 * PMCC
    PASS

.macro ACCESS name, number
read_\name:
    mfspr   10, \number
    sc
write_\name:
    mtspr   \number, 10
    sc
.endm
    ACCESS  mmcr0, 779
    ACCESS  mmcr2, 769
    ACCESS  pmc1, 771
    ACCESS  pmc6, 776
