#include "prologue.inc"
#include "radix.inc"

main:
    bl      setup_radix
    # The way out arrives with relocation on too: the hypervisor's quadrant 0 needs a tree for PID 1.
    STORE   HOST_PROCESS_TABLE + 16, ROOT | HOST_PID0_ROOT
    INVALIDATE_ALL
    SET_SPR FSCR, 1 << 12
    SET_SPR HFSCR, 0
    # Level 3 goes to 0x17060: back to the hypervisor from there.
    lis     3, 1
    ori     3, 3, 0x7060
    ADDRESS 4, call
    lwz     5, 0(4)
    stw     5, 0(3)
    dcbst   0, 3
    sync
    icbi    0, 3
    isync
    SET_SPR LPCR, LPCR_RADIX | LPCR_AIL2
    IN_GUEST vectored, GUEST_ON
    CHECK   1, 20, 0xc00
    CHECK   2, 21, 0x17064
    CHECK   3, 22, GUEST_ON
    # Without AIL in real mode.
    SET_SPR LPCR, LPCR_RADIX
    IN_GUEST vectored, GUEST_ON
    CHECK   4, 21, 0x17064
    CHECK   5, 22, GUEST_REAL
    PASS

vectored:
    scv     3
call:
    sc      1
