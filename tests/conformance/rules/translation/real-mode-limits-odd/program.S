#include "prologue.inc"
#include "real-mode.inc"

main:
    REAL_MODE_PARTITION
    REACHES 1, 7, 0x7fffff8, 0x8000000
    REACHES 11, 3, 0x3fffff8, 0x4000000
    # There is no memory up to 16 GiB.
    REACHES 21, 1, 0x3ffffff8, 0x400000000
    PASS
