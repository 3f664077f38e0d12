#include "prologue.inc"
#include "radix.inc"

main:
    bl      setup_radix
    ON_INTERRUPT limit
    SET_SPR HFSCR, 1 << 9
    SET_SPR PSSCR, 0
    SET_SPR LPCR, LPCR_RADIX | LPCR_HDICE
    SET_SPR HDEC, 1000
    ENTER_GUEST sleeper, GUEST_REAL
limit:
    # EE=0 in the guest holds nothing back from the hypervisor.
    CHECK   1, 20, 0x980
    CHECK_ADDRESS 2, 23, behind
    PASS

sleeper:
    stop
behind:
    b       .
