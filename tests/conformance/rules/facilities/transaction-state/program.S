#include "prologue.inc"

.set MSR_ON, MSR_SF | MSR_HV | MSR_ME | MSR_TM
.set SUSPENDED, 1 << 33
.set TRANSACTIONAL, 2 << 33
.set TEXASR, 130

.macro BAD_THING number, code
    ON_INTERRUPT .Lbad\@
    RETURN_TO \code, MSR_ON
.Lbad\@:
    CHECK   \number, 20, 0x700
    CHECK_ADDRESS \number, 21, \code
    CHECK   \number, 22, MSR_ON | 0x200000
.endm

main:
    SET     10, MSR_ON | SUSPENDED
    SET     11, MSR_ON | TRANSACTIONAL
    BAD_THING 1, suspend
    BAD_THING 2, transact
    mtsrr1  10
    BAD_THING 3, return
    ON_INTERRUPT refused
    mtspr   HSRR1, 11
return_to_hypervisor:
    hrfid
    FAIL    4
refused:
    CHECK   5, 20, 0x700
    CHECK_ADDRESS 6, 21, return_to_hypervisor
    BAD_THING 7, reclaim
    mfmsr   12
    SET     13, MSR_TM
    or      12, 12, 13
    mtmsrd  12
    li      13, 0
    mtspr   TEXASR, 13
    BAD_THING 8, recheckpoint
    PASS

suspend:
    mtmsrd  10
transact:
    mtmsrd  11
return:
    rfid
reclaim:
    treclaim. 0
recheckpoint:
    trechkpt.
