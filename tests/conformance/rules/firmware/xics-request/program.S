#include "prologue.inc"
#include "opal.inc"

main:
    mfspr   14, PIR
    OPAL    INT_SET_CPPR, 0xff, 0
    # A request of the own thread, through the controller.
    mr      3, 14
    li      4, 4
    li      0, INT_SET_MFRR
    bl      opal_call
    CHECK   1, 3, 0
    ON_INTERRUPT arrived
    mfspr   10, LPCR
    ori     10, 10, LPCR_HVICE | LPCR_HEIC
    mtspr   LPCR, 10
    isync
    # Firmware may have used the decrementer.
    SET_SPR DEC, 0x7fffffff
    mfmsr   15
    ori     11, 15, MSR_EE
    mtmsrd  11, 1
1:  b       1b
arrived:
    # A hypervisor virtualization interrupt, whatever HEIC says.
    CHECK   2, 20, 0xea0
    GET_XIRR 0
    CHECK   3, 3, 0xff000002
    # Accepted: CPPR is its priority, and it is not presented again.
    GET_XIRR 1
    CHECK   4, 3, 0x04000000
    mr      3, 14
    li      4, 0xff
    li      0, INT_SET_MFRR
    bl      opal_call
    OPAL    INT_EOI, 0xff000002, 0
    CHECK   5, 3, 0
    # Nothing is left.
    ON_INTERRUPT unexpected
    ori     11, 15, MSR_EE
    mtmsrd  11, 1
    nop
    nop
    mtmsrd  15, 1
    PASS
