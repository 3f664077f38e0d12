#include "prologue.inc"
#include "radix.inc"

# The partition's `code` is left to the hypervisor. (QEMU 7.2 has no HEIR.)
.macro ASSISTED number, code, msr
    IN_GUEST \code, \msr
    CHECK   \number, 20, 0xe40
    CHECK_ADDRESS \number, 23, \code
.endm

# Problem state at `code` takes the guest's privileged-instruction interrupt.
.macro PRIVILEGED number, code
    IN_GUEST \code, GUEST_ON | MSR_PR | MSR_EE
    TO_HOST
    CHECK   \number, 6, 0x700
    CHECK_ADDRESS \number, 7, \code
    CHECK_BITS \number, 8, 0x783f0000, 0x00040000
.endm

main:
    bl      setup_radix
    SET     10, 0x5555
    IN_GUEST nothing, GUEST_REAL
    CHECK   1, 20, 0xc00
    CHECK_ADDRESS 2, 21, nothing_end
    CHECK   3, 10, 0x5555
    ASSISTED 4, read_0, GUEST_REAL
    ASSISTED 5, read_4, GUEST_REAL
    ASSISTED 6, read_6, GUEST_REAL
    ASSISTED 7, write_0, GUEST_REAL
    ASSISTED 8, read_0, GUEST_ON | MSR_PR | MSR_EE
    ASSISTED 9, read_2, GUEST_ON | MSR_PR | MSR_EE
    ASSISTED 10, write_2, GUEST_ON | MSR_PR | MSR_EE
    PRIVILEGED 11, read_16
    PRIVILEGED 12, write_16
    PASS

nothing:
    mfspr   10, 2
    mfspr   10, 7
    mfspr   10, 16
    mfspr   10, 1010
    mtspr   2, 10
    mtspr   4, 10
    mtspr   5, 10
    mtspr   6, 10
    mtspr   16, 10
    mtspr   1010, 10
    sc      1
nothing_end:
read_0:
    mfspr   10, 0
read_2:
    mfspr   10, 2
read_4:
    mfspr   10, 4
read_6:
    mfspr   10, 6
read_16:
    mfspr   10, 16
write_0:
    mtspr   0, 10
write_2:
    mtspr   2, 10
write_16:
    mtspr   16, 10
