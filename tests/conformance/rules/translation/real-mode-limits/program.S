#include "prologue.inc"
#include "real-mode.inc"

main:
    REAL_MODE_PARTITION
    REACHES 1, 8, 0x1fffff8, 0x2000000
    REACHES 11, 4, 0xffffff8, 0x10000000
    REACHES 21, 2, 0x3ffffff8, 0x40000000
    # There is no memory up to 256 GiB.
    REACHES 31, 0, 0x3ffffff8, 0x4000000000
    PASS
