#include "prologue.inc"
#include "radix.inc"

# A partition's instruction is left to the hypervisor, with its image.
.macro LEFT number, code
    IN_GUEST \code, GUEST_REAL | MSR_FP
    CHECK   \number, 20, 0xe40
    CHECK_ADDRESS \number, 23, \code
    ADDRESS 10, \code
    lwz     10, 0(10)
    mfspr   11, HEIR
    cmpd    10, 11
    beq     .Lleft\@
    FAIL    \number
.Lleft\@:
.endm

main:
    bl      setup_radix
    SET_SPR HFSCR, 1
    LEFT    1, update_of_itself
    LEFT    2, reserved_wait
    LEFT    3, reserved_slbia
    LEFT    4, copy_paste
    # The reserved trace mode is that of single steps.
    IN_GUEST traced, GUEST_REAL | MSR_SE | MSR_BE
    TO_HOST
    CHECK   6, 6, 0xd00
    CHECK_ADDRESS 7, 7, traced + 4
    # A transaction state that cannot be.
    SET     10, GUEST_REAL | 3 << 33
    IN_GUEST transaction, GUEST_REAL
    TO_HOST
    CHECK   8, 6, 0x700
    CHECK_ADDRESS 9, 7, transaction
    CHECK_BITS 10, 8, 0x783f0000, 0x00200000
    CHECK_BITS 11, 8, 3 << 33, 0
    PASS

update_of_itself:
    .long   0x84630000      # lwzu r3, 0(r3)
reserved_wait:
    .long   0x7c20003c      # wait with WC=1
reserved_slbia:
    .long   0x7ca003e4      # slbia with IH=5
copy_paste:
    copy    0, 4
traced:
    nop
    sc      1
transaction:
    mtmsrd  10
    sc      1
