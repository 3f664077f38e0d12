#include "prologue.inc"
#include "threads.inc"
#include "split.inc"

.set TABLE, 0x10000000
.set POISON, 0xdead5709dead5709
.set NAP, 0x4c000364

CELL done
CELL go

# One thread more has done its part.
.macro DONE
    ADDRESS 26, done
.Ldone\@:
    ldarx   27, 0, 26
    addi    27, 27, 1
    stdcx.  27, 0, 26
    bne     .Ldone\@
.endm

# LPIDR is 0x10 and the number in r31.
.macro OWN_LPIDR number
    mfspr   4, LPIDR
    addi    5, 31, 0x10
    cmpd    4, 5
    beq     .Lown\@
    FAIL    \number
.Lown\@:
.endm

# The bits of HID0 that say how the core is split.
.macro CHECK_SPLIT number, status
    mfspr   10, HID0
    CHECK_BITS \number, 10, IS_2 | IS_4 | SPLIT_2 | SPLIT_4, \status
.endm

main:
    SET_SPR SDR1, TABLE
    SET_SPR LPIDR, 5
    .irp    number, 1, 2, 3, 4, 5, 6, 7
    START   \number, other
    .endr
    AWAIT   done, 7
    SPLIT   SPLIT_4, IS_4
    CHECK_SPLIT 1, IS_4
    # Its own subcore keeps its table.
    CHECK_SPR 2, SDR1, TABLE
    TELL    go, 1
    AWAIT   done, 14
    SET_SPR LPIDR, 0x10
    TELL    go, 2
    AWAIT   done, 21
    CHECK_SPR 3, LPIDR, 0x10
    TELL    go, 3
    AWAIT   done, 28
    # The bell that its sibling rang; nobody else did.
    CHECK_SPR 4, DPDES, 1
    # Whole again, once all others nap.
    mfspr   10, HID0
    SET     11, STAYS
    andc    10, 10, 11
    mtspr   HID0, 10
    CHECK_SPLIT 5, IS_4
    TELL    go, 4
    SET     11, IS_4
1:  mfspr   10, HID0
    and.    10, 10, 11
    bne     1b
    CHECK_SPR 6, SDR1, TABLE
    # msgsnd goes by the numbers of the core.
    .irp    number, 1, 2, 3, 4, 5, 6, 7
    SET     10, 0x28000000 | \number
    msgsnd  10
    .endr
    AWAIT   done, 35
    SPLIT   SPLIT_2, IS_2
    CHECK_SPLIT 7, IS_2
    TELL    go, 5
    AWAIT   done, 42
    SET_SPR LPIDR, 0x10
    TELL    go, 6
    AWAIT   done, 49
    CHECK_SPR 8, LPIDR, 0x10
    PASS

# r30 is the thread's number, r31 its subcore's.
other:
    mr      30, 3
    srdi    31, 30, 1
    ON_INTERRUPT unexpected
    SET_SPR LPCR, LPCR_PECE_HDOORBELL
    DONE
    AWAIT   go, 1
    cmpdi   31, 0
    beq     1f
    CHECK_SPR 10, LPIDR, POISON & 0xffffffff
    CHECK_SPR 11, SDR1, POISON
    b       2f
1:  CHECK_SPR 12, SDR1, TABLE
    CHECK_SPR 23, LPIDR, 5
2:  DONE
    AWAIT   go, 2
    # The first thread of each subcore has another partition.
    andi.   4, 30, 1
    bne     3f
    addi    4, 31, 0x10
    mtspr   LPIDR, 4
3:  DONE
    AWAIT   go, 3
    OWN_LPIDR 13
    # The second one rings the first.
    andi.   4, 30, 1
    mfspr   5, TIR
    cmpd    4, 5
    beq     4f
    FAIL    14
4:  cmpdi   4, 0
    beq     5f
    SET     10, 0x28000000
    msgsndp 10
5:  DONE
    AWAIT   go, 4
    CHECK_SPR 15, DPDES, 1
    ON_INTERRUPT woken
    .long   NAP
    FAIL    22

woken:
    CHECK   16, 20, 0x100
    ON_INTERRUPT unexpected
    # The core has what its first subcore had.
    CHECK_SPR 17, SDR1, TABLE
    CHECK_SPR 18, LPIDR, 0x10
    CHECK_SPLIT 19, 0
    DONE
    AWAIT   go, 5
    mfspr   30, PIR
    srdi    31, 30, 2
    cmpdi   31, 0
    beq     6f
    CHECK_SPR 20, SDR1, POISON
6:  cmpdi   30, 4
    bne     7f
    SET_SPR LPIDR, 0x11
7:  DONE
    AWAIT   go, 6
    OWN_LPIDR 21
    DONE
    b       .
