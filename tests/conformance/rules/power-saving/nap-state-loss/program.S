#include "prologue.inc"

.set WAKE_SLEEP, 0x4c0003a4
.set WAKE_RVWINKLE, 0x4c0003e4

# Sleeps until the doorbell that is there already; r30 has SRR1[46:47].
.macro SLEEP_LOSES number, word, lost
    ON_INTERRUPT .Lwoken\@
    SET     10, 0x28000000
    msgsnd  10
    SET     14, 0x1234
    .long   \word
    FAIL    \number
.Lwoken\@:
    ON_INTERRUPT unexpected
    CHECK   \number, 20, 0x100
    # SRR1[42:45]: a hypervisor doorbell; [46:47] what was lost.
    CHECK_BITS \number, 22, 0x3f0000, 0xc0000 | (\lost << 16)
.endm

main:
    SET_SPR LPCR, LPCR_PECE_HDOORBELL
    isync
    # doze keeps everything.
    SLEEP_LOSES 1, 0x4c000324, 1
    CHECK   2, 14, 0x1234
    # nap and sleep lose the thread's own registers.
    SLEEP_LOSES 3, 0x4c000364, 2
    CHECK   4, 14, 0xdead5709dead5709
    SET     10, 0x28000000
    msgclr  10
    SLEEP_LOSES 5, WAKE_SLEEP, 2
    # rvwinkle loses the hypervisor's too: SPRG3, by which the vectors go on, so that they get other code.
    ADDRESS 10, winkled - 4
    li      11, 0x100 - 4
    li      12, (winkled_end - winkled) / 4
    mtctr   12
1:  lwzu    12, 4(10)
    stwu    12, 4(11)
    bdnz    1b
    li      11, 0x100
    dcbst   0, 11
    sync
    icbi    0, 11
    isync
    SET     10, 0x28000000
    msgsnd  10
    .long   WAKE_RVWINKLE
    FAIL    6

    # What is at 0x100 then: it goes to `after`.
winkled:
    ADDRESS 10, after
    mtctr   10
    bctr
winkled_end:

after:
    ON_INTERRUPT unexpected
    mfsrr1  22
    CHECK_BITS 6, 22, 0x3f0000, 0xf0000
    # LPCR is as after power-on.
    CHECK_SPR 7, LPCR, 0x0040000000006000
    PASS
