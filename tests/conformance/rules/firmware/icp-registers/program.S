#include "prologue.inc"

.set ICP, 0x3ffff80000000
.set XIRR, 4
.set MFRR, 12

# The address of a register of the own thread's into r10: chip, PIR, register.
.macro ICP_REGISTER offset
    mfspr   10, PIR
    srdi    11, 10, 7
    sldi    11, 11, 20
    sldi    10, 10, 12
    or      10, 10, 11
    SET     11, ICP + \offset
    or      10, 10, 11
.endm
.macro ICP_LOAD instruction, register, offset
    ICP_REGISTER \offset
    \instruction \register, 0, 10
.endm
.macro ICP_STORE instruction, offset, value
    ICP_REGISTER \offset
    SET     12, \value
    \instruction 12, 0, 10
.endm

main:
    # External interrupts are the hypervisor's: LPES is 0.
    SET_SPR LPCR, 0
    isync
    ICP_STORE stbcix, XIRR, 0xff
    ICP_LOAD lbzcix, 13, XIRR
    CHECK   1, 13, 0xff
    ON_INTERRUPT arrived
    SET_SPR DEC, 0x7fffffff
    mfmsr   15
    ori     16, 15, MSR_EE
    # A request of the own thread.
    ICP_STORE stbcix, MFRR, 4
    ICP_LOAD lwzcix, 13, 0
    CHECK   2, 13, 0xff000002
    mtmsrd  16, 1
1:  b       1b
arrived:
    ON_INTERRUPT unexpected
    CHECK   3, 20, 0x500
    CHECK_ADDRESS 4, 23, 1b
    # Read, it is accepted: CPPR is its priority, and nothing is presented again.
    ICP_LOAD lwzcix, 13, XIRR
    CHECK   5, 13, 0xff000002
    ICP_LOAD lwzcix, 13, 0
    CHECK   6, 13, 0x04000000
    ICP_LOAD lbzcix, 13, MFRR
    CHECK   7, 13, 4
    ICP_STORE stbcix, MFRR, 0xff
    # Written, it is over.
    ICP_STORE stwcix, XIRR, 0xff000002
    ICP_LOAD lwzcix, 13, 0
    CHECK   8, 13, 0xff000000
    mtmsrd  16, 1
    nop
    mtmsrd  15, 1
    PASS
