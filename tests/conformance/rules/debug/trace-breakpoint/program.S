#include "prologue.inc"
#include "radix.inc"

main:
    bl      setup_radix
    ON_INTERRUPT hit
    # In hypervisor state.
    ADDRESS 10, place
    ori     11, 10, 3
    mtspr   CIABR, 11
    li      12, 0
place:
    li      12, 1
    li      12, 2
    FAIL    1
again:
    b       place_again
hit:
    CHECK   2, 20, 0xd00
    CHECK   3, 12, 1
    CHECK_BITS 4, 22, 0x783f0000, 0x40100000
    CHECK_ADDRESS 5, 21, place + 4
    # For a partition, and not for us.
    ADDRESS 10, place
    ori     11, 10, 2
    mtspr   CIABR, 11
    bl      again
    ADDRESS 10, guest_place
    ori     11, 10, 2
    mtspr   CIABR, 11
    IN_GUEST guest_code, GUEST_REAL
    TO_HOST
    CHECK   6, 6, 0xd00
    CHECK_ADDRESS 7, 7, guest_place + 4
    PASS

place_again:
    li      12, 3
    blr

guest_code:
    nop
guest_place:
    nop
    sc      1
