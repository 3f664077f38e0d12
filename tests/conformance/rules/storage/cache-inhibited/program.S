#include "prologue.inc"
#include "radix.inc"

# ATT of a leaf: 2 non-idempotent, 3 tolerant.
.set ATT_NON_IDEMPOTENT, 2 << 4
.set ATT_TOLERANT, 3 << 4

# The partition's `code` interrupts at 0x600 with DAR r13 + `offset`.
.macro MISALIGNED number, code, offset, msr=GUEST_ON
    SET     13, WINDOW
    SET_SPR DAR, 0
    SET_SPR DSISR, 0x55
    IN_GUEST \code, \msr
    TO_HOST
    CHECK   \number, 6, 0x600
    CHECK_ADDRESS \number, 7, \code
    CHECK_BITS \number, 8, 0x783f0000, 0
    CHECK_SPR \number, DAR, WINDOW + \offset
.endm

# The partition's `code` is refused at 0x300 with `status` in DSISR.
.macro REFUSED number, code, status, msr=GUEST_ON
    SET     13, WINDOW
    IN_GUEST \code, \msr
    TO_HOST
    CHECK   \number, 6, 0x300
    CHECK_ADDRESS \number, 7, \code
    CHECK_BITS \number, 8, 0x783f0000, 0
    CHECK_SPR \number, DAR, WINDOW
    CHECK_SPR \number, DSISR, \status
.endm

.macro WORKS number, code
    SET     13, WINDOW
    SET     14, WINDOW + 0x1000
    IN_GUEST \code, GUEST_ON
    CHECK   \number, 20, 0xc00
.endm

# Everything that the attribute refuses.
.macro ALL first
    MISALIGNED \first, zero, 0
    MISALIGNED (\first + 1), load_word, 2
    MISALIGNED (\first + 3), store_doubleword, 4
    MISALIGNED (\first + 4), load_across, 0xffe
    REFUSED (\first + 5), reserve, 0x04000000
    REFUSED (\first + 6), conditional, 0x06000000
    REFUSED (\first + 7), load_quadword, 0x04000000
    REFUSED (\first + 8), store_quadword, 0x06000000
    REFUSED (\first + 9), load_atomic, 0x04000000
    REFUSED (\first + 10), store_atomic, 0x06000000
    WORKS   (\first + 11), allowed
.endm

main:
    bl      setup_radix
    STORE   PID1_L4, LEAF | WINDOW | ATT_NON_IDEMPOTENT
    INVALIDATE_ALL
    ALL     1
    STORE   PID1_L4, LEAF | WINDOW | ATT_TOLERANT
    INVALIDATE_ALL
    ALL     21
    # Strong access order is no obstacle, and neither is a normal page.
    STORE   PID1_L4, LEAF | WINDOW | 1 << 4
    INVALIDATE_ALL
    WORKS   41, everything
    STORE   PID1_L4, LEAF | WINDOW
    INVALIDATE_ALL
    WORKS   42, everything
    PASS

zero:
    dcbz    0, 13
    sc      1
load_word:
    lwz     10, 2(13)
    sc      1
store_doubleword:
    std     10, 4(13)
    sc      1
load_across:
    lwz     10, 0xffe(13)
    sc      1
reserve:
    lwarx   10, 0, 13
    sc      1
conditional:
    stdcx.  10, 0, 13
    sc      1
load_quadword:
    lq      10, 0(13)
    sc      1
store_quadword:
    stq     10, 0(13)
    sc      1
load_atomic:
    .long   0x7d4d048c      # lwat r10, r13, 0
    sc      1
store_atomic:
    .long   0x7d4d058c      # stwat r10, r13, 0
    sc      1
allowed:
    lbz     10, 3(13)
    lhz     10, 2(13)
    lwz     10, 4(13)
    ld      10, 8(13)
    std     10, 0xff8(13)
    dcbst   0, 13
    # The next page has a cache.
    ld      10, 4(14)
    dcbz    0, 14
    sc      1
everything:
    lwz     10, 2(13)
    lwz     10, 0xffe(13)
    lwarx   10, 0, 13
    stwcx.  10, 0, 13
    lq      10, 0(13)
    .long   0x7d4d048c      # lwat r10, r13, 0
    dcbz    0, 13
    sc      1
