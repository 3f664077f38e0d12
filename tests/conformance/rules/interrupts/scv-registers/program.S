#include "prologue.inc"
#include "radix.inc"
#include "vectors.inc"

.set PROBLEM, GUEST_ON | MSR_PR | MSR_EE | MSR_REST | ALL_FACILITIES
.set RELOCATED, MSR_IR | MSR_DR

# The partition's `scv` of level 2 with LPCR[AIL] = `ail`: it goes to `door`, where an `sc 1` shows the MSR.
.macro CALLS number, msr, ail, door, after
    SET_SPR LPCR, LPCR_RADIX | (\ail << (63 - 40))
    isync
    MARK_REGISTERS
    IN_GUEST vectored, \msr
    mflr    8
    TO_REAL
    CHECK   \number, 20, 0xc00
    CHECK   \number, 21, (\door) + 4
    CHECK   \number, 22, MSR_SF | MSR_ME | ((\msr) & (MSR_EE | MSR_RI)) | (\after)
    CHECK_ADDRESS \number, 8, vectored_end
    # (The vector table loses CTR: the door keeps it in r7.)
    CHECK   \number, 7, \msr
    CHECK_ADDRESS \number, 23, vectored
    CHECK   \number, 24, \msr
    DESCRIBED \number
    # `sc 1` has overwritten these; its door saw them first.
    CHECK   \number, 5, MARK
    CHECK   \number, 6, MARK
.endm

main:
    bl      setup_radix
    STORE   GUEST_PROCESS_TABLE, ROOT | GUEST_PID1_ROOT
    STORE   HOST_PROCESS_TABLE + 16, ROOT | HOST_PID0_ROOT
    INVALIDATE_ALL
    SET_SPR HFSCR, 3
    SET_SPR FSCR, 0x1000
    # The door of level 2, in both places.
    ADDRESS 3, door
    lis     4, 1
    ori     4, 4, 0x7040
    bl      place_door
    li      4, 0x3040
    bl      place_door
    CALLS   0x10, PROBLEM, 0, 0x17040 + 12, 0
    CALLS   0x11, GUEST_ON | MSR_RI, 0, 0x17040 + 12, 0
    CALLS   0x12, GUEST_REAL | MSR_EE, 3, 0x17040 + 12, 0
    CALLS   0x13, PROBLEM, 2, 0x17040 + 12, RELOCATED
    CALLS   0x14, PROBLEM, 3, 0xc000000000003040 + 12, RELOCATED
    CALLS   0x15, GUEST_ON, 3, 0xc000000000003040 + 12, RELOCATED
    PASS

place_door:
    li      5, 4
    mtctr   5
    addi    6, 3, -4
    addi    7, 4, -4
1:  lwzu    5, 4(6)
    stwu    5, 4(7)
    bdnz    1b
    dcbst   0, 4
    sync
    icbi    0, 4
    isync
    blr

door:
    mfctr   7
    mfsrr0  5
    mfsrr1  6
    sc      1

vectored:
    scv     2
vectored_end:
