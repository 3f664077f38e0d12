#include "prologue.inc"
#include "radix.inc"

main:
    bl      setup_radix
    ON_INTERRUPT rung
    mfspr   10, PIR
    SET     11, 0x28000000
    or      10, 10, 11
    msgsnd  10
    ENTER_GUEST guest, GUEST_REAL
rung:
    CHECK   1, 20, 0xe80
    CHECK_ADDRESS 2, 23, guest
    PASS

guest:
    b       .
