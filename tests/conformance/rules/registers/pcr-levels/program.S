#include "prologue.inc"
#include "radix.inc"

.set PCR, 338
.set PCR_TM, 0x2000000000000000
.set PCR_2_07, 8
.set PCR_2_06, 4
.set PCR_2_05, 2
.set PROBLEM, GUEST_ON | MSR_PR | MSR_EE | MSR_TM

# With `pcr`, problem state at `code` ends in the interrupt `vector`: 0xe40 for what is not there, and 0x700 for the
# privileged instruction behind it.
.macro TRY number, pcr, code, vector
    SET_SPR PCR, \pcr
    IN_GUEST \code, PROBLEM
    TO_HOST
    CHECK   \number, 6, \vector
.endm

main:
    bl      setup_radix
    SET_SPR HFSCR, 0xffff
    SET_SPR FSCR, 0xffff
    # The other bits are not kept.
    SET_SPR PCR, -1
    CHECK_SPR 1, PCR, PCR_TM | PCR_2_07 | PCR_2_06 | PCR_2_05

    TRY     2, 0, new_3_0, 0x700
    TRY     3, PCR_2_07, new_3_0, 0xe40
    CHECK_ADDRESS 4, 23, new_3_0
    TRY     5, PCR_2_07, new_2_07, 0x700
    TRY     6, PCR_2_07 | PCR_2_06, new_2_07, 0xe40
    TRY     7, PCR_2_07 | PCR_2_06, new_2_06, 0x700
    TRY     8, PCR_2_07 | PCR_2_06 | PCR_2_05, new_2_06, 0xe40
    TRY     9, PCR_2_07 | PCR_2_06 | PCR_2_05, old, 0x700
    # The earliest level counts.
    TRY     10, PCR_2_05, new_3_0, 0xe40

    # Registers: reading and writing.
    TRY     11, PCR_2_07, read_target, 0x700
    TRY     12, PCR_2_07 | PCR_2_06, read_target, 0xe40
    TRY     13, PCR_2_07 | PCR_2_06, write_target, 0xe40
    # A refusal by FSCR is for those that are there.
    SET_SPR FSCR, 0
    TRY     14, PCR_2_07, read_target, 0xf60
    TRY     15, PCR_2_07 | PCR_2_06, read_target, 0xe40
    SET_SPR FSCR, 0xffff

    # Transactions, their registers too.
    TRY     16, PCR_2_07, transaction, 0x700
    TRY     17, PCR_TM, transaction, 0xe40
    TRY     18, PCR_TM, read_transaction, 0xe40
    TRY     19, PCR_TM, new_3_0, 0x700
    TRY     20, PCR_2_07 | PCR_2_06, transaction, 0xe40

    # The partition's kernel and the hypervisor have all.
    SET_SPR PCR, -1
    IN_GUEST new_3_0, GUEST_REAL
    CHECK   21, 20, 0xc00
    ON_INTERRUPT unexpected
    .long   0x7c830474
    .long   0x7d4a03f4
    SET_SPR PCR, 0
    PASS

# cnttzd r3,r4; lbarx r10,0,r13; popcntd r10,r10; prtyd r10,r10.
new_3_0:
    .long   0x7c830474
    mfmsr   10
    sc      1
new_2_07:
    lis     13, FRAME_A@h
    .long   0x7d406868
    mfmsr   10
    sc      1
new_2_06:
    .long   0x7d4a03f4
    mfmsr   10
    sc      1
old:
    .long   0x7d4a0174
    mfmsr   10
    sc      1
read_target:
    mfspr   10, TAR
    mfmsr   10
    sc      1
write_target:
    mtspr   TAR, 10
    mfmsr   10
    sc      1
# tbegin., which fails.
transaction:
    .long   0x7c00051d
    mfmsr   10
    sc      1
read_transaction:
    mfspr   10, 128
    mfmsr   10
    sc      1
