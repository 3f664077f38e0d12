#include "prologue.inc"
#include "radix.inc"
#include "threads.inc"

CELL turn
CELL seen

main:
    bl      setup_radix
    ON_INTERRUPT unexpected
    START   4, other
    AWAIT   turn, 1
    STORE   GUEST_L4, LEAF | FRAME_A
    ptesync
    TLBIE   WINDOW | AP_4K, RS_LPID1, 0, 0
    eieio
    # No tlbsync: ptesync orders nothing of other processors.
    ptesync
    TELL    turn, 2
    AWAIT   turn, 3
    ADDRESS 10, seen
    ld      11, 0(10)
    CHECK   1, 11, 0x11
    # tlbsync without ptesync.
    tlbsync
    TELL    turn, 4
    AWAIT   turn, 5
    ld      11, 0(10)
    CHECK   2, 11, 0x11
    ptesync
    TELL    turn, 6
    AWAIT   turn, 7
    ld      11, 0(10)
    CHECK   3, 11, 0xaa
    PASS

# Reads the window as the partition would, and says what it saw.
.macro LOOK when, then
    AWAIT   turn, \when
    SET     13, WINDOW
    IN_GUEST guest_load, GUEST_REAL
    ADDRESS 15, seen
    std     14, 0(15)
    TELL    turn, \then
.endm

other:
    SET_SPR DEC, 0x7fffffff
    SET_SPR PTCR, PARTITION_TABLE | 4
    SET_SPR LPIDR, 1
    SET_SPR PIDR, 1
    SET_SPR LPCR, LPCR_RADIX
    isync
    SET     13, WINDOW
    IN_GUEST guest_load, GUEST_REAL
    TELL    turn, 1
    LOOK    2, 3
    LOOK    4, 5
    LOOK    6, 7
    b       .
