#include "prologue.inc"
#include "radix.inc"
#include "opal.inc"
#include "threads.inc"
#include "deep.inc"
#include "vectors.inc"

CELL turn

.set STATE, GUEST_ON | MSR_REST | ALL_FACILITIES

# The first thread resets the second one, which is in a partition with LPCR[AIL]=3.
main:
    START   4, runner
    AWAIT   turn, 1
    OPAL    SIGNAL_SYSTEM_RESET, 4, 0
    b       .

runner:
    SET_SPR DEC, 0x7fffffff
    SET_SPR HDEC, 0x7fffffff
    bl      setup_radix
    SET_SPR LPCR, LPCR_RADIX | LPCR_AIL3
    MARK_REGISTERS
    IN_GUEST partition, STATE
    mfmsr   10
    CHECK   1, 20, 0x100
    CHECK   2, 25, 0
    CHECK_ADDRESS 3, 21, partition_waits
    CHECK   4, 22, STATE | 0x80000
    # ME stays; everything else goes.
    CHECK   5, 10, MSR_SF | MSR_HV | MSR_ME
    DESCRIBED 6
    CHECK_ADDRESS 7, 23, partition
    HEIR_IS 8, MARK
    PASS

partition:
    TELL    turn, 1
partition_waits:
    b       partition_waits
