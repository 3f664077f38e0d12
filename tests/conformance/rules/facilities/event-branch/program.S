#include "prologue.inc"
#include "radix.inc"

.set MMCR0, 795
.set FROZEN, 0x80180000     # FC, EBE, PMCC=2
.set ALERT, FROZEN | 0x80
.set EBBHR, 804
.set EBBRR, 805
.set GE, 0x8000000000000000
.set PME, 0x0000000100000000
.set PMEO, 1

.set PROBLEM, GUEST_ON | MSR_PR | MSR_EE

main:
    bl      setup_radix
    SET_SPR HFSCR, 1 << 3 | 1 << 7
    SET_SPR FSCR, 1 << 7
    ADDRESS 10, handler
    mtspr   EBBHR, 10
    # Problem state makes the alert itself; the handler counts in r14 and leaves what it found in r15 to r17.
    SET_SPR MMCR0, FROZEN
    SET_SPR BESCR, GE | PME
    li      14, 0
    IN_GUEST alert, PROBLEM
    TO_HOST
    CHECK   1, 6, 0xc00
    CHECK   2, 14, 1
    CHECK   3, 15, PMEO
    CHECK_ADDRESS 4, 16, alerted
    CHECK   5, 17, 0x80000080
    CHECK_SPR 6, BESCR, GE | PME
    # With GE=0 the exception waits for GE.
    SET_SPR MMCR0, FROZEN
    SET_SPR BESCR, PME
    li      14, 0
    IN_GUEST alert, PROBLEM
    TO_HOST
    CHECK   7, 14, 0
    CHECK_SPR 8, BESCR, PMEO
    IN_GUEST enable, PROBLEM
    TO_HOST
    CHECK   9, 14, 1
    CHECK_ADDRESS 10, 16, enabled
    # An alert of privileged state waits for problem state.
    SET_SPR MMCR0, ALERT
    SET_SPR BESCR, GE | PME
    li      14, 0
    IN_GUEST calls, PROBLEM
    TO_HOST
    CHECK   11, 14, 1
    CHECK_ADDRESS 12, 16, calls
    # An exception that the handler leaves behind branches again when it returns.
    SET_SPR MMCR0, FROZEN
    SET_SPR BESCR, PMEO
    ADDRESS 10, calls
    mtspr   EBBRR, 10
    li      14, 0
    IN_GUEST returns, PROBLEM
    TO_HOST
    CHECK   13, 14, 1
    CHECK_ADDRESS 14, 16, calls
    PASS

alert:
    mfspr   10, 779
    ori     10, 10, 0x80
    mtspr   779, 10
alerted:
    sc
enable:
    SET     10, GE
    mtspr   800, 10
enabled:
    sc
calls:
    sc
returns:
    rfebb   1

# As Linux's tests and paflib do it.
handler:
    addi    14, 14, 1
    mfspr   15, BESCR
    mfspr   16, EBBRR
    mfspr   17, 779
    li      11, 0x80
    andc    10, 17, 11
    mtspr   779, 10
    li      10, PMEO
    mtspr   802, 10
    SET     10, PME
    mtspr   800, 10
    rfebb   1
