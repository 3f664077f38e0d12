#include "prologue.inc"
#include "radix.inc"
#include "vectors.inc"

# DSISR bit 61: a function code that the instruction does not have.
main:
    bl      setup_radix
    SET     13, WINDOW
    TO_GUEST 1, load, GUEST_ON, 0x300, load
    DESCRIBED 1, WINDOW, 0x4
    TO_GUEST 2, store, GUEST_ON | MSR_PR | MSR_EE, 0x300, store
    DESCRIBED 2, WINDOW, 0x02000004
    TO_HOST_BY_SRR 3, load, MSR_SF | MSR_HV | MSR_ME, 0x300, load
    DESCRIBED 3, WINDOW, 0x4
    PASS

load:
    .long   0x7d4d4c8c      # lwat r10, r13, 9
store:
    .long   0x7d4d4d8c      # stwat r10, r13, 9
