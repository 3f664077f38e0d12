#include "prologue.inc"
#include "radix.inc"

main:
    bl      setup_radix
    # The exception comes with HDICE=0, and a positive value does not end it.
    EXPIRE_HDEC
    SET_SPR HDEC, 0x7fffffff
    SET_SPR LPCR, LPCR_RADIX | LPCR_HDICE
    IN_GUEST forever, GUEST_REAL
    CHECK   1, 20, 0x980
    CHECK_ADDRESS 2, 23, forever
    # Its interrupt does.
    IN_GUEST busy, GUEST_REAL
    CHECK   3, 20, 0xc00
    # One for each time the sign bit becomes set: it still is, and another negative value brings none.
    EXPIRE_HDEC
    IN_GUEST forever, GUEST_REAL
    CHECK   4, 20, 0x980
    IN_GUEST busy, GUEST_REAL
    CHECK   5, 20, 0xc00
    SET_SPR HDEC, -1000
    IN_GUEST busy, GUEST_REAL
    CHECK   6, 20, 0xc00
    # By counting too, once.
    SET_SPR HDEC, 200
    IN_GUEST forever, GUEST_REAL
    CHECK   7, 20, 0x980
    IN_GUEST busy, GUEST_REAL
    CHECK   8, 20, 0xc00
    # What came while the hypervisor had EE=0 waits for a partition, or for EE.
    SET_SPR HDEC, 100
    li      3, 4000
    mtctr   3
1:  bdnz    1b
    SET_SPR HDEC, 0x7fffffff
    ON_INTERRUPT taken
    mfmsr   10
    ori     11, 10, MSR_EE
    mtmsrd  11, 1
2:  b       2b
taken:
    CHECK   9, 20, 0x980
    # So does what a write brought, though HDEC has counted past its most negative value since.
    SET_SPR HDEC, 0x7fffffff
    SET_SPR HDEC, 1 << 55 | 1
    li      3, 4000
    mtctr   3
1:  bdnz    1b
    ON_INTERRUPT wrapped
    mtmsrd  11, 1
2:  b       2b
wrapped:
    CHECK   10, 20, 0x980
    PASS

busy:
    li      3, 1000
    mtctr   3
1:  bdnz    1b
    sc      1
forever:
    b       forever
