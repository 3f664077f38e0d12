#include "prologue.inc"

main:
    ON_INTERRUPT handler
first_place:
    trap
after_first:
    FAIL    1

# The handler faults itself before it has saved SRR0.
handler:
    ON_INTERRUPT nested
second_place:
    trap
nested:
    CHECK_ADDRESS 2, 21, second_place
    # What the first interrupt saved is gone, and MSR[RI]=0 said so.
    CHECK_BITS 3, 22, MSR_RI, 0
    PASS
