#include "prologue.inc"

.macro ABSENT number, word
    ON_INTERRUPT .Lrefused\@
.Lat\@:
    .long   \word
    FAIL    \number
.Lrefused\@:
    ON_INTERRUPT unexpected
    CHECK   \number, 20, 0xe40
    CHECK_ADDRESS \number, 23, .Lat\@
.endm

main:
    # modsd, cnttzd, darn, setb, addpcis, maddld, stop, wait.
    ABSENT  1, 0x7c642e12
    ABSENT  2, 0x7c830474
    ABSENT  3, 0x7c6105e6
    ABSENT  4, 0x7c600100
    ABSENT  5, 0x4c600004
    ABSENT  6, 0x106429b3
    ABSENT  7, 0x4c0002e4
    ABSENT  8, 0x7c00003c
    PASS
