#include "prologue.inc"
#include "radix.inc"
#include "vectors.inc"

# DSISR and HDSISR bit 36, beside bit 38 for stores. Rights of a leaf: 8 privileged, 4 read, 2 read and write, 1 execute.
.set PROTECTION, 0x08000000
.set STORED, 0x02000000
.set PROBLEM, GUEST_ON | MSR_PR | MSR_EE

.macro PROCESS number, code, place, msr, status
    SET     13, \place
    TO_GUEST \number, \code, \msr, 0x300, \code
    DESCRIBED \number, \place, \status
.endm

.macro PARTITION number, code, place, msr, status
    SET     13, \place
    TO_HOST_BY_HSRR \number, \code, \msr, 0xe00, \code
    DESCRIBED \number, hdar=\place, hdsisr=\status, asdr=(\place) & ~0xfff
.endm

.macro WORKS number, code, place, msr
    SET     13, \place
    IN_GUEST \code, \msr
    CHECK   \number, 20, 0xc00
.endm

main:
    bl      setup_radix
    .set    rights, 0
    .rept   16
    STORE   PID1_L4 + rights * 8, (LEAF & ~15) | WINDOW | rights << 12 | rights
    STORE   GUEST_L4 + (16 + rights) * 8, (LEAF & ~15) | WINDOW | (16 + rights) << 12 | rights
    .set    rights, rights + 1
    .endr
    INVALIDATE_ALL
    # Execute only: neither load nor store. Read: no store. Write: both.
    PROCESS 0x01, guest_load, WINDOW + 0x1000, GUEST_ON, PROTECTION
    PROCESS 0x02, guest_store, WINDOW + 0x1000, GUEST_ON, PROTECTION | STORED
    PROCESS 0x03, guest_load, WINDOW + 0x1010, PROBLEM, PROTECTION
    PROCESS 0x04, guest_store, WINDOW + 0x5010, GUEST_ON, PROTECTION | STORED
    PROCESS 0x05, guest_store, WINDOW + 0x5010, PROBLEM, PROTECTION | STORED
    WORKS   0x06, guest_load, WINDOW + 0x4000, GUEST_ON
    WORKS   0x07, guest_load, WINDOW + 0x2000, GUEST_ON
    WORKS   0x08, guest_store, WINDOW + 0x2000, GUEST_ON
    # A privileged page is none for problem state, whatever it permits.
    PROCESS 0x09, guest_load, WINDOW + 0xf000, PROBLEM, PROTECTION
    PROCESS 0x0a, guest_store, WINDOW + 0xf000, PROBLEM, PROTECTION | STORED
    WORKS   0x0b, guest_store, WINDOW + 0xf000, GUEST_ON
    PROCESS 0x0c, guest_store, WINDOW + 0xc000, GUEST_ON, PROTECTION | STORED
    # Partition scope: the same, but that privilege is nothing to it.
    PARTITION 0x0d, guest_load, WINDOW + 0x11000, GUEST_ON, PROTECTION
    PARTITION 0x0e, guest_store, WINDOW + 0x11008, GUEST_ON, PROTECTION | STORED
    PARTITION 0x0f, guest_store, WINDOW + 0x15008, GUEST_REAL, PROTECTION | STORED
    WORKS   0x10, guest_load, WINDOW + 0x14000, GUEST_REAL
    WORKS   0x11, guest_store, WINDOW + 0x12000, GUEST_ON
    IN_GUEST problem_store, PROBLEM
    CHECK   0x12, 20, 0xc00
    # Where both stages refuse it is the process's.
    STORE   PID1_L4 + 0x15 * 8, LEAF_READ_ONLY | WINDOW | 0x15000
    INVALIDATE_ALL
    PROCESS 0x13, guest_store, WINDOW + 0x15000, GUEST_ON, PROTECTION | STORED
    PASS

problem_store:
    lis     13, (WINDOW + 0x20000)@h
    std     14, -0x1000(13)
    sc      1
