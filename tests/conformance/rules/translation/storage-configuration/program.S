#include "prologue.inc"
#include "radix.inc"
#include "vectors.inc"

# DSISR, HDSISR, SRR1 and HSRR1 bit 44: tables of a form that POWER9 does not support.
.set CONFIGURATION, 0x00080000
.set STORED, 0x02000000

# Each wrong form, by the entry that has it, under the place WINDOW; it is mended afterwards.
.macro PROCESS number, entry, value, right
    STORE   \entry, \value
    INVALIDATE_ALL
    SET     13, WINDOW
    TO_GUEST \number, guest_load, GUEST_ON, 0x300, guest_load
    DESCRIBED \number, WINDOW, CONFIGURATION
    TO_GUEST \number, guest_store, GUEST_ON, 0x300, guest_store
    DESCRIBED \number, WINDOW, CONFIGURATION | STORED
    TO_GUEST \number, WINDOW, GUEST_ON, 0x400, WINDOW, CONFIGURATION
    DESCRIBED \number
    STORE   \entry, \right
    INVALIDATE_ALL
.endm

.macro PARTITION number, entry, value, right
    STORE   \entry, \value
    INVALIDATE_ALL
    SET     13, WINDOW
    TO_HOST_BY_HSRR \number, guest_load, GUEST_REAL, 0xe00, guest_load
    DESCRIBED \number, hdar=WINDOW, hdsisr=CONFIGURATION, asdr=WINDOW
    TO_HOST_BY_HSRR \number, guest_store, GUEST_REAL, 0xe00, guest_store
    DESCRIBED \number, hdar=WINDOW, hdsisr=CONFIGURATION | STORED, asdr=WINDOW
    TO_HOST_BY_HSRR \number, WINDOW, GUEST_REAL, 0xe20, WINDOW, CONFIGURATION
    DESCRIBED \number, asdr=WINDOW
    STORE   \entry, \right
    INVALIDATE_ALL
.endm

.set L3_ENTRY, (WINDOW >> 21) * 8

main:
    bl      setup_radix
    # A directory of 2^4, 2^6 or 2^10 entries where 2^9 or 2^5 may be.
    PROCESS 1, PID1_L3 + L3_ENTRY, (DIRECTORY & ~31) | 4 | PID1_L4, DIRECTORY | PID1_L4
    PROCESS 2, PID1_L3 + L3_ENTRY, (DIRECTORY & ~31) | 6 | PID1_L4, DIRECTORY | PID1_L4
    PROCESS 3, PID1_L3 + L3_ENTRY, (DIRECTORY & ~31) | 10 | PID1_L4, DIRECTORY | PID1_L4
    PARTITION 4, GUEST_L3 + L3_ENTRY, (DIRECTORY & ~31) | 4 | GUEST_L4, DIRECTORY | GUEST_L4
    PARTITION 5, GUEST_L3 + L3_ENTRY, (DIRECTORY & ~31) | 10 | GUEST_L4, DIRECTORY | GUEST_L4
    # Below the last level.
    PROCESS 6, PID1_L4, DIRECTORY | SPARE_TABLES, LEAF | WINDOW
    PARTITION 7, GUEST_L4, DIRECTORY | SPARE_TABLES, LEAF | WINDOW
    # The process's root: no size, and an entry of zeros. The code is elsewhere: all of PID 1 is gone.
    STORE   GUEST_PROCESS_TABLE + 16, 0
    INVALIDATE_ALL
    TO_GUEST 8, guest_load, GUEST_ON, 0x400, guest_load, CONFIGURATION
    STORE   GUEST_PROCESS_TABLE + 16, (ROOT & ~31) | 12 | GUEST_PID1_ROOT
    INVALIDATE_ALL
    TO_GUEST 9, guest_load, GUEST_ON, 0x400, guest_load, CONFIGURATION
    # A PID beyond the table has no translation.
    SET_SPR PIDR, 0x100
    TO_GUEST 10, guest_load, GUEST_ON, 0x400, guest_load, 0x40000000
    SET_SPR PIDR, 1
    # The partition's entry: not for radix, a root of no size, an LPID that has none.
    STORE   PARTITION_TABLE + 16, ROOT | GUEST_ROOT
    INVALIDATE_ALL
    TO_HOST_BY_HSRR 11, guest_load, GUEST_REAL, 0xe20, guest_load, CONFIGURATION
    STORE   PARTITION_TABLE + 16, PATE_HR | (ROOT & ~31) | 4 | GUEST_ROOT
    INVALIDATE_ALL
    TO_HOST_BY_HSRR 12, guest_load, GUEST_REAL, 0xe20, guest_load, CONFIGURATION
    SET_SPR LPIDR, 2
    TO_HOST_BY_HSRR 13, guest_load, GUEST_REAL, 0xe20, guest_load, CONFIGURATION
    SET_SPR LPIDR, 0
    TO_HOST_BY_HSRR 14, guest_load, GUEST_REAL, 0xe20, guest_load, CONFIGURATION
    PASS
