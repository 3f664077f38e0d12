#include "prologue.inc"
#include "radix.inc"
#include "vectors.inc"

# A directory of the process lies where the partition has nothing, or nothing that was referenced.
main:
    bl      setup_radix
    STORE   PID1_L2, DIRECTORY | WINDOW
    STORE   GUEST_L4, 0
    INVALIDATE_ALL
    SET     13, 0x1000008
    TO_HOST_BY_HSRR 1, guest_store, GUEST_REAL | MSR_DR, 0xe00, guest_store
    DESCRIBED 1, hdar=0x1000008, hdsisr=0x42020000, asdr=WINDOW
    TO_HOST_BY_HSRR 2, guest_load, GUEST_ON, 0xe20, guest_load, 0x40020000
    DESCRIBED 2, asdr=WINDOW
    STORE   GUEST_L4, LEAF_NO_R | WINDOW
    ptesync
    TO_HOST_BY_HSRR 3, guest_load, GUEST_REAL | MSR_DR, 0xe00, guest_load
    DESCRIBED 3, hdar=0x1000008, hdsisr=0x00060000, asdr=WINDOW
    TO_HOST_BY_HSRR 4, guest_load, GUEST_ON, 0xe20, guest_load, 0x00060000
    # A load needs no C.
    STORE   GUEST_L4, LEAF_NO_C | WINDOW
    STORE   WINDOW + (0x1000000 >> 21) * 8, LEAF | 0x1000000
    ptesync
    IN_GUEST guest_store, GUEST_REAL | MSR_DR
    CHECK   5, 20, 0xc00
    PASS
