#include "prologue.inc"
#include "radix.inc"

# What POWER9 has beyond the architecture.
.set RPR, 186
.set PMSR, 853
.set TRIG1, 881
.set TRIG2, 882
.set PMCR, 884
.set RWMR, 885
.set TSCR, 921
.set TTR, 922

.set PATTERN, 0x123456789abcdef0

main:
    CHECK_SPR 1, RPR, 0x00000103070f1f3f
    CHECK_SPR 2, PMCR, 1
    # What is asked for is kept; the clock stays as it is.
    SET_SPR PMCR, PATTERN
    CHECK_SPR 3, PMCR, 0x0034000000000001
    CHECK_SPR 4, PMSR, 1
    SET_SPR RPR, PATTERN
    CHECK_SPR 5, RPR, PATTERN
    SET_SPR RWMR, PATTERN
    CHECK_SPR 6, RWMR, PATTERN
    SET_SPR TSCR, PATTERN
    CHECK_SPR 7, TSCR, 0x9abcdef0
    SET_SPR TTR, PATTERN
    CHECK_SPR 8, TTR, PATTERN
    # The operating system's: no register changes, and none is read.
    bl      setup_radix
    SET     14, PATTERN
    IN_GUEST triggers, GUEST_REAL
    CHECK   9, 20, 0xc00
    CHECK   9, 14, PATTERN
    # The hypervisor's alone.
    IN_GUEST control, GUEST_REAL
    TO_HOST
    CHECK   10, 6, 0x700
    PASS

triggers:
    mtspr   TRIG1, 14
    mtspr   TRIG2, 14
    mfspr   14, TRIG1
    mfspr   14, TRIG2
    sc      1
control:
    mtspr   PMCR, 14
    sc      1
