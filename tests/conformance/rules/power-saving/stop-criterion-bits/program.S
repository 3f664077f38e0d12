#include "prologue.inc"

# Stops with this in LPCR and goes on behind this line with the reason in r10.
.macro STOP_UNTIL criterion
    ON_INTERRUPT .Lwoken\@
    SET_SPR LPCR, \criterion
    stop
    FAIL    0xf0
.Lwoken\@:
    CHECK   0xf1, 20, 0x100
    SET     10, 0x3c0000
    and     10, 22, 10
.endm

main:
    SET_SPR PSSCR, PSSCR_EC
    # A privileged doorbell waits, and only the decrementer is named.
    mfspr   11, TIR
    oris    11, 11, 0x2800
    msgsndp 11
    SET_SPR DEC, 5000
    STOP_UNTIL LPCR_PECE_DEC | LPCR_PECE_HDOORBELL | LPCR_PECE_MAINTENANCE | LPCR_PECE_EXTERNAL
    CHECK   1, 10, 0x180000
    # It is named.
    SET_SPR DEC, 0x7fffffff
    STOP_UNTIL LPCR_PECE_PDOORBELL
    CHECK   2, 10, 0x140000
    msgclrp 11
    # A hypervisor doorbell waits, and only the decrementer is named; then it is.
    mfspr   11, PIR
    oris    11, 11, 0x2800
    msgsnd  11
    SET_SPR DEC, 5000
    STOP_UNTIL LPCR_PECE_DEC | LPCR_PECE_PDOORBELL | LPCR_PECE_MAINTENANCE | LPCR_PECE_EXTERNAL
    CHECK   3, 10, 0x180000
    SET_SPR DEC, 0x7fffffff
    STOP_UNTIL LPCR_PECE_HDOORBELL
    CHECK   4, 10, 0x0c0000
    PASS
