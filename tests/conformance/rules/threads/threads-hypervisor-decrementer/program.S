#include "prologue.inc"
#include "threads.inc"

.set FAR, 0x7fffffff

.macro INTERRUPTS_ON
    mfmsr   11
    ori     11, 11, MSR_EE
    mtmsrd  11, 1
.endm
.macro INTERRUPTS_OFF
    mfmsr   11
    li      26, MSR_EE >> 1
    sldi    26, 26, 1
    andc    11, 11, 26
    mtmsrd  11, 1
.endm

# r15 is at least, or less than, `value`.
.macro LEAST number, value
    li      26, \value
    cmpd    15, 26
    bge     .Lleast\@
    FAIL    \number
.Lleast\@:
.endm
.macro LESS number, value
    li      26, \value
    cmpd    15, 26
    blt     .Lless\@
    FAIL    \number
.Lless\@:
.endm

CELL seen
CELL start

# Both threads wait for the exception of HDEC. Each writes a far value behind its own one, which must not end the other's.
main:
    SET_SPR LPCR, LPCR_HDICE
    START   1, other
    AWAIT   seen, 1
    ON_INTERRUPT first
    SET_SPR HDEC, 1000
    TELL    seen, 2
    INTERRUPTS_ON
    b       .
first:
    CHECK   1, 20, 0x980
    SET_SPR HDEC, FAR
    AWAIT   seen, 3
    # The other thread writes a later one behind this.
    ON_INTERRUPT second
    mftb    14
    ADDRESS 26, start
    std     14, 0(26)
    SET_SPR HDEC, 1000
    TELL    seen, 4
    INTERRUPTS_ON
    b       .
second:
    CHECK   2, 20, 0x980
    mftb    15
    SET_SPR HDEC, FAR
    subf    15, 14, 15
.ifdef Power8
    LEAST   3, 6000
.else
    LESS    4, 2000
.endif
    AWAIT   seen, 5
    # Nothing is left.
    ON_INTERRUPT unexpected
    INTERRUPTS_ON
    li      3, 2000
    mtctr   3
1:  bdnz    1b
    INTERRUPTS_OFF
    PASS

other:
    ON_INTERRUPT first_other
    SET_SPR LPCR, LPCR_HDICE
    SET_SPR DEC, FAR
    SET_SPR HDEC, FAR
    TELL    seen, 1
    AWAIT   seen, 2
    INTERRUPTS_ON
    li      3, 20000
    mtctr   3
1:  bdnz    1b
    INTERRUPTS_OFF
.ifdef Power8
    FAIL    5
.else
    # Its own is far.
    b       go_on
.endif
first_other:
    CHECK   6, 20, 0x980
.ifndef Power8
    FAIL    7
.endif
go_on:
    ON_INTERRUPT second_other
    TELL    seen, 3
    AWAIT   seen, 4
    SET_SPR HDEC, 6000
    INTERRUPTS_ON
    b       .
second_other:
    CHECK   8, 20, 0x980
    mftb    15
    ADDRESS 26, start
    ld      14, 0(26)
    subf    15, 14, 15
    LEAST   9, 6000
    TELL    seen, 5
    b       .
