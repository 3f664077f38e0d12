#include "prologue.inc"
#include "radix.inc"
#include "vectors.inc"

# HDSISR bit 46: the partition-scoped tables refuse an address in the process's tables. It is read as by a load.
.set WALK, 0x00020000

# A process table in the window, whose page the partition's tables give `leaf`.
.macro REFUSED number, leaf, cause
    STORE   GUEST_L4, \leaf
    INVALIDATE_ALL
    SET     13, 0x1000000
    TO_HOST_BY_HSRR \number, guest_load, GUEST_REAL | MSR_DR, 0xe00, guest_load
    DESCRIBED \number, hdar=0x1000000, hdsisr=WALK | \cause, asdr=WINDOW
    # (Whether a store is told of, QEMU and the architecture disagree.)
    TO_HOST_BY_HSRR \number, guest_store, GUEST_REAL | MSR_DR, 0xe00, guest_store
    CHECK_BITS \number, 24, 0x783f0000, 0
    mfspr   10, HDSISR
    CHECK_BITS \number, 10, ~0x02000000, WALK | \cause
.endm

main:
    bl      setup_radix
    # The process table.
    STORE   PARTITION_TABLE + 24, WINDOW
    REFUSED 1, 0, 0x40000000
    REFUSED 2, (LEAF & ~7) | WINDOW, 0x08000000
    # The root of the process.
    STORE   PARTITION_TABLE + 24, GUEST_PROCESS_TABLE
    STORE   GUEST_PROCESS_TABLE + 16, ROOT | WINDOW
    REFUSED 3, 0, 0x40000000
    # A directory.
    STORE   GUEST_PROCESS_TABLE + 16, ROOT | GUEST_PID1_ROOT
    STORE   GUEST_PID1_ROOT, DIRECTORY | WINDOW
    REFUSED 4, 0, 0x40000000
    REFUSED 5, (LEAF & ~7) | 1 | WINDOW, 0x08000000
    # A right to read is enough.
    STORE   GUEST_PID1_ROOT, DIRECTORY | PID1_L2
    STORE   GUEST_L4, LEAF_READ_ONLY | WINDOW
    STORE   PID1_L2, DIRECTORY | WINDOW
    STORE   WINDOW + (0x1000000 >> 21) * 8, LEAF | 0x1000000
    INVALIDATE_ALL
    SET     13, 0x1000000
    IN_GUEST guest_load, GUEST_REAL | MSR_DR
    CHECK   6, 20, 0xc00
    PASS
