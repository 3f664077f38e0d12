#include "prologue.inc"
#include "radix.inc"

.set MMCR0, 795
.set PATTERN, 0x123456789abcdef0
.set ROUNDS, 300

# The next of a xorshift generator's numbers in r10.
.macro NEXT
    sldi    11, 10, 13
    xor     10, 10, 11
    srdi    11, 10, 7
    xor     10, 10, 11
    sldi    11, 10, 17
    xor     10, 10, 11
.endm

.macro KEEPS number, spr
    SET_SPR \spr, PATTERN
    CHECK_SPR \number, \spr, PATTERN
.endm

main:
    SET     10, PATTERN
    li      16, 0
    ON_INTERRUPT alerted
    bl      any_values
    cmpdi   16, 0
    bne     1f
    FAIL    2
1:  KEEPS   3, 784
    KEEPS   4, 785
    KEEPS   5, 786
    KEEPS   6, 796
    KEEPS   7, 797
    KEEPS   8, 798
.ifdef Power8
    # The supervisor's counters, which stand.
    SET_SPR 892, 0x9abcdef0
    SET_SPR 893, 0x89abcdef
    KEEPS   9, 894
    CHECK_SPR 10, 892, 0x9abcdef0
    CHECK_SPR 11, 893, 0x89abcdef
.else
    bl      setup_radix
    SET_SPR HFSCR, 1 << 3
    SET     10, PATTERN
    li      16, 0
    ON_INTERRUPT alerted
    RETURN_TO guest, GUEST_REAL
.endif
done:
    PASS

guest:
    bl      any_values
    ON_INTERRUPT back
    sc      1
back:
    CHECK   12, 20, 0xc00
    cmpdi   16, 0
    bne     done
    FAIL    13

# Writes numbers at random to all of them, and lets what comes of that interrupt, again and again. Leaves all frozen.
any_values:
    li      17, ROUNDS
    mfmsr   14
    ori     13, 14, MSR_EE
1:  .irp number, 784, 785, 786, 787, 788, 789, 790, 791, 792, 796, 797, 798
    NEXT
    mtspr   \number, 10
    .endr
.ifdef Power8
    .irp number, 892, 893, 894
    NEXT
    mtspr   \number, 10
    .endr
.endif
    NEXT
    mtspr   MMCR0, 10
    mtmsrd  13, 1
    nop
    nop
    mtmsrd  14, 1
    addic.  17, 17, -1
    bne     1b
    lis     11, 0x8000
    mtspr   MMCR0, 11
    blr

# Counts the alert, freezes, and goes back.
alerted:
    cmplwi  20, 0xf00
    bne     2f
    addi    16, 16, 1
    lis     26, 0x8000
    mtspr   MMCR0, 26
    rfid
2:  mr      15, 20
    ON_INTERRUPT wrong
    sc      1
wrong:
    CHECK   1, 15, 0xf00
