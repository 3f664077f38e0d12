#include "prologue.inc"
#include "opal.inc"

.set RTC_READ, 3

main:
    ADDRESS 3, opal_answer
    addi    4, 3, 8
    li      0, RTC_READ
    bl      opal_call
    CHECK   1, 3, 0
    ADDRESS 10, opal_answer
    lwz     11, 0(10)
    CHECK   2, 11, 0x20260101
    ld      11, 8(10)
    CHECK   3, 11, 0
    # What is answered to CHECK_TOKEN: this one is there, NVRAM is not.
    OPAL    CHECK_TOKEN, RTC_READ, 0
    CHECK   4, 3, 1
    OPAL    CHECK_TOKEN, 7, 0
    CHECK   5, 3, 0
    PASS
