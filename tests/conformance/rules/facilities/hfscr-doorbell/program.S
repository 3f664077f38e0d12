#include "prologue.inc"
#include "radix.inc"

main:
    bl      setup_radix
    IN_GUEST doorbell, GUEST_REAL
    CHECK   1, 20, 0xf80
    mfspr   10, HFSCR
    srdi    10, 10, 56
    CHECK   2, 10, 10
    IN_GUEST state, GUEST_REAL
    CHECK   3, 20, 0xf80
    PASS

doorbell:
    SET     10, 0x28000000
    msgsndp 10
    sc      1
state:
    mfspr   10, DPDES
    sc      1
