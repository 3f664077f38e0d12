#include "prologue.inc"
#include "misaligned.inc"

# A word as little-endian mode fetches it.
.macro SWAPPED word
    .long   (((\word) & 0xff) << 24) | (((\word) & 0xff00) << 8) | (((\word) >> 8) & 0xff00) | (((\word) >> 24) & 0xff)
.endm

main:
    MISALIGNED 1, load_multiple, MSR_BIG | MSR_LE, PLACE + 16
    MISALIGNED 2, store_multiple, MSR_BIG | MSR_LE, PLACE + 16
    MISALIGNED 3, load_string, MSR_BIG | MSR_LE, PLACE
    MISALIGNED 4, store_string, MSR_BIG | MSR_LE, PLACE
    MISALIGNED 5, load_string_indexed, MSR_BIG | MSR_LE, PLACE + 0x11
    MISALIGNED 6, store_string_indexed, MSR_BIG | MSR_LE, PLACE + 0x11
    PASS

load_multiple:
    SWAPPED 0xbbc40010      # lmw r30, 16(r4)
store_multiple:
    SWAPPED 0xbfc40010      # stmw r30, 16(r4)
load_string:
    SWAPPED 0x7fc444aa      # lswi r30, r4, 8
store_string:
    SWAPPED 0x7fc445aa      # stswi r30, r4, 8
load_string_indexed:
    SWAPPED 0x7fc42c2a      # lswx r30, r4, r5
store_string_indexed:
    SWAPPED 0x7fc42d2a      # stswx r30, r4, r5
