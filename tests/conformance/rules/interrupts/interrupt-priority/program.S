#include "prologue.inc"
#include "radix.inc"
#include "vectors.inc"

# All wait; each is over when it is taken, or made to be, and the next one comes.
.macro COMES number, code, msr, vector
    ON_INTERRUPT .Lcame\@
    RETURN_TO \code, \msr
.Lcame\@:
    CHECK   \number, 20, \vector
.endm

.macro RING
    mfspr   10, PIR
    oris    10, 10, 0x2800
    msgsnd  10
.endm

.set HOST, MSR_SF | MSR_HV | MSR_ME

main:
    bl      setup_radix
    SET_SPR LPCR, LPCR_RADIX | LPCR_HDICE
    EXPIRE_HDEC
    SET_SPR DEC, 0xffffffff
    RING
    # In hypervisor state EE holds all of them back; what the instruction does comes then.
    COMES   1, trapping, HOST, 0x700
    # With EE they come before it, in this order.
    COMES   2, trapping, HOST | MSR_EE, 0x980
    SET_SPR HDEC, 0x7fffffff
    COMES   3, trapping, HOST | MSR_EE, 0x900
    SET_SPR DEC, 0x7fffffff
    COMES   4, trapping, HOST | MSR_EE, 0xe80
    COMES   5, trapping, HOST | MSR_EE, 0x700
    # A partition with EE=0 holds back its own alone.
    EXPIRE_HDEC
    SET_SPR DEC, 0xffffffff
    COMES   6, trapping, GUEST_REAL, 0x980
    SET_SPR HDEC, 0x7fffffff
    IN_GUEST trapping, GUEST_REAL
    TO_HOST
    CHECK   7, 6, 0x700
    IN_GUEST trapping, GUEST_REAL | MSR_EE
    TO_HOST
    CHECK   8, 6, 0x900
    SET_SPR DEC, 0x7fffffff
    # What an instruction does: a page that cannot be fetched, before what the word would be ...
    STORE   PID1_L4, 0
    INVALIDATE_ALL
    IN_GUEST WINDOW, GUEST_ON | MSR_PR | MSR_EE
    TO_HOST
    CHECK   9, 6, 0x400
    # ... privilege before the facility, and the facility before the operand.
    IN_GUEST privileged, GUEST_ON | MSR_PR | MSR_EE
    TO_HOST
    CHECK   10, 6, 0x700
    SET_SPR HFSCR, 3
    SET     13, UNMAPPED
    IN_GUEST float_load, GUEST_ON
    TO_HOST
    CHECK   11, 6, 0x800
    IN_GUEST float_load, GUEST_ON | MSR_FP
    TO_HOST
    CHECK   12, 6, 0x300
    PASS

trapping:
    trap
privileged:
    mtmsrd  10
float_load:
    lfd     1, 0(13)
