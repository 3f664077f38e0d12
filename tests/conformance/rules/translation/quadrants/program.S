#include "prologue.inc"
#include "radix.inc"

.set HOST_DATA, MSR_SF | MSR_HV | MSR_ME | MSR_DR

# With MSR[DR]=1 and MSR[IR]=0: loads go through the quadrants, the program goes on in real mode.
.macro DATA_ON
    mfmsr   10
    ori     11, 10, MSR_DR
    mtmsrd  11
.endm
.macro DATA_OFF
    mtmsrd  10
.endm

main:
    bl      setup_radix
    # The partition's own view of the window differs from the host's.
    STORE   PID1_L4, LEAF | FRAME_A
    STORE   HOST_PROCESS_TABLE + 16, ROOT | HOST_PID0_ROOT
    # PID 0 of the partition: the window is FRAME_B.
    STORE   GUEST_PROCESS_TABLE, ROOT | (SPARE_TABLES + 0x10000)
    STORE   SPARE_TABLES + 0x10000, DIRECTORY | SPARE_TABLES
    STORE   SPARE_TABLES, DIRECTORY | (SPARE_TABLES + 0x1000)
    FILL    SPARE_TABLES + 0x1000, LEAF, 0x200000
    STORE   SPARE_TABLES + 0x1000 + (WINDOW >> 21) * 8, LEAF | LARGE_B
    INVALIDATE_ALL
    SET     12, WINDOW
    SET     13, WINDOW | 0x4000000000000000
    SET     14, WINDOW | 0x8000000000000000
    SET     15, WINDOW | 0xc000000000000000
    DATA_ON
    ld      16, 0(12)
    ld      17, 0(13)
    ld      18, 0(14)
    ld      19, 0(15)
    DATA_OFF
    # 0: LPID 0, PIDR. 1: LPIDR, PIDR. 2: LPIDR, PID 0. 3: LPID 0, PID 0.
    CHECK   1, 16, 0x11
    CHECK   2, 17, 0xaa
    CHECK   3, 18, 0xb2
    CHECK   4, 19, 0x11
    # The partition: 0 is its PIDR, 3 its PID 0, 1 and 2 are segment interrupts.
    SET     13, WINDOW
    IN_GUEST guest_load, GUEST_ON
    CHECK   5, 14, 0xaa
    SET     13, WINDOW | 0xc000000000000000
    IN_GUEST guest_load, GUEST_ON
    CHECK   6, 14, 0xb2
    SET     13, WINDOW | 0x4000000000000000
    IN_GUEST guest_load, GUEST_ON
    TO_HOST
    CHECK   7, 6, 0x380
    CHECK_SPR 8, DAR, WINDOW | 0x4000000000000000
    SET     13, WINDOW | 0x8000000000000000
    IN_GUEST guest_load, GUEST_ON
    TO_HOST
    CHECK   9, 6, 0x380
    # An address outside of 52 bits.
    SET     13, 0x0010000000000000
    IN_GUEST guest_load, GUEST_ON
    TO_HOST
    CHECK   10, 6, 0x380
    PASS
