#include "prologue.inc"
#include "radix.inc"

main:
    bl      setup_radix
    # A trap.
    ON_INTERRUPT trapped
trap_place:
    trap
    FAIL    1
trapped:
    CHECK   2, 20, 0x700
    CHECK_ADDRESS 3, 21, trap_place
    CHECK_BITS 4, 22, 0x783f0000, 0x00020000
    # A hypervisor's instruction in a partition, without EVIRT.
    IN_GUEST hypervisors, GUEST_REAL
    TO_HOST
    CHECK   5, 6, 0x700
    CHECK_ADDRESS 6, 7, hypervisors
    CHECK_BITS 7, 8, 0x783f0000, 0x00040000
    # A privileged one in problem state.
    IN_GUEST privileged, GUEST_ON | MSR_PR | MSR_EE
    TO_HOST
    CHECK   8, 6, 0x700
    CHECK_BITS 9, 8, 0x783f0000, 0x00040000
    # A word that nothing has goes to the hypervisor, with its image.
    IN_GUEST nothing, GUEST_REAL
    CHECK   10, 20, 0xe40
    CHECK_ADDRESS 11, 23, nothing
    PASS

hypervisors:
    mtspr   LPIDR, 0
    sc      1
privileged:
    mfmsr   10
nothing:
    .long   0
    sc      1
