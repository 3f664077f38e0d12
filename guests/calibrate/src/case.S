# case.S: how a case is written.
#
#     case name, iterations=1000, operations=64, role=common_role
#         ... set-up, run before each of the two passes ...
#     measured
#         ... the body, executed `iterations` times; `operations` is how many things of interest one has ...
#     end_case
#
# A body may use r3-r19, CR, XER, LR and FPRs. CTR counts the iterations; a body that needs it says
# `measured_by_gpr` and `end_case_by_gpr`, and r21 counts instead. Label numbers 8 and 9 are the macros'.
# A case with a role runs only where the image's mode asks for that role (siblings.S).
#
# r24 is the pass: 0 warms up, 1 is between the marks, with the time base read outside of them.

    .set MARK_BEGIN, 0x08004000
    .set MARK_END, 0x08004800
    .set next_case, 1
    .set common_role, 0                 # of the cases that say none

    .set LPCR, 318
    .set SCRATCH, 0x04000000            # real address of 320 MiB that nobody uses under OPAL

    .section .calibration, "a"
description_start:

    .macro load_constant register, value
    lis \register, (\value) >> 16
    ori \register, \register, (\value) & 0xFFFF
    .endm

# The address of a label, wherever the image lies. Clobbers LR.
    .macro address_of register, label
    bcl 20, 31, .+4
.Lhere\@:
    mflr \register
    addis \register, \register, (\label - .Lhere\@)@ha
    addi \register, \register, (\label - .Lhere\@)@l
    .endm

    .macro case name, iterations=1000, operations=64, role=common_role
    .section .calibration, "a"
    .long next_case, \iterations, \operations, \name - .
    .asciz "\name"
    .org description_start + (next_case - 1) * 64 + 56
    .long \role, 0
    .section .cases, "ax"
    .balign 128
    .globl \name
    .type \name, @function
\name:
    mflr %r25
    .set case_number, next_case
    .set next_case, next_case + 1
    .set case_iterations, \iterations
    li %r24, 0
7:
    .endm

    .macro begin_mark
    cmpdi %r24, 0
    beq 8f
    mftb %r22
    .long MARK_BEGIN | case_number
8:
    .endm

    .macro end_mark
    cmpdi %r24, 0
    beq 8f
    .long MARK_END | case_number
    mftb %r23
8:
    addi %r24, %r24, 1
    cmpdi %r24, 2
    beq .Lover\@
    b 7b
.Lover\@:
    mtlr %r25
    blr
    .endm

    .macro measured
    load_constant %r0, case_iterations
    mtctr %r0
    begin_mark
    .balign 128
9:
    .endm

    .macro end_case
    bdnz 9b
    end_mark
    .endm

    .macro measured_by_gpr
    load_constant %r21, case_iterations
    begin_mark
    .balign 128
9:
    .endm

    .macro end_case_by_gpr
    addic. %r21, %r21, -1
    bne 9b
    end_mark
    .endm

# Eight adds that do not wait for each other. r3 = an operand; clobbers r4-r11.
    .macro eight_independent_adds
    .irp register, 4, 5, 6, 7, 8, 9, 10, 11
    add %r\register, %r3, %r3
    .endr
    .endm
