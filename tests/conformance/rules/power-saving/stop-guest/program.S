#include "prologue.inc"
#include "radix.inc"

.set GUEST_EE, GUEST_REAL | MSR_EE

main:
    bl      setup_radix
    # HFSCR, which is 0, has no bit for it.
    # 1: EC as the hypervisor left it.
    ON_INTERRUPT facility
    SET_SPR PSSCR, PSSCR_EC
    ENTER_GUEST sleeper, GUEST_REAL
facility:
    CHECK   1, 20, 0xf80
    CHECK_ADDRESS 2, 23, sleeper
    CHECK_SPR 3, HFSCR, 9 << 56
    # 2: ESL.
    ON_INTERRUPT state_loss
    SET_SPR HFSCR, 0
    SET_SPR PSSCR, PSSCR_ESL
    ENTER_GUEST sleeper, GUEST_REAL
state_loss:
    CHECK   4, 20, 0xf80
    CHECK_SPR 5, HFSCR, 9 << 56
    # 3: a level above PSLL, which the guest asks for itself.
    ON_INTERRUPT too_deep
    SET_SPR PSSCR, 3 << 16
    ENTER_GUEST deep_sleeper, GUEST_REAL
too_deep:
    CHECK   6, 20, 0xf80
    # MTL above PSLL, a level to which it may go on.
    ON_INTERRUPT deepens
    SET_SPR HFSCR, 0
    SET_SPR PSSCR, 3 << 16
    ENTER_GUEST deepening_sleeper, GUEST_REAL
deepens:
    CHECK   11, 20, 0xf80
    CHECK_SPR 12, HFSCR, 9 << 56
    # 4: at PSLL, the guest's decrementer ends it.
    ON_INTERRUPT guest_timer
    SET_SPR PSSCR, 4 << 16
    SET_SPR DEC, 1000
    ENTER_GUEST deep_sleeper, GUEST_EE
guest_timer:
    CHECK   7, 20, 0x900
    CHECK_ADDRESS 8, 21, behind
    ON_INTERRUPT back
    sc      1
back:
    CHECK   9, 20, 0xc00
    # Level 4 would lose state, which ESL=0 forbids.
    CHECK_SPR 10, PSSCR, (3 << 60) | (4 << 16) | 4
    PASS

sleeper:
    stop
    sc      1

deepening_sleeper:
    SET_SPR PSSCR_GUEST, 4 << 4
    stop
    sc      1

deep_sleeper:
    SET_SPR PSSCR_GUEST, 4
    stop
behind:
    sc      1
