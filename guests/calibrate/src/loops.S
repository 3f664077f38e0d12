# loops.S: whole loops of several mechanisms, as PARM-M and PMIT wrote and timed them (`docs/facts/power9-core.md#measured-times`).
#
# Each has their loop of three instructions around it; a figure is that of one iteration.

    .set PROGRAM_LOG2, 14               # bytes of a program of op-codes
    .set PROGRAM, SCRATCH
    .set HANDLERS, SCRATCH + 0x10000
    .set SLOTS, SCRATCH + 0x20000

    .macro end_case_counted
    addi %r21, %r21, -1
    cmpdi %r21, 0
    bne 9b
    end_mark
    .endm

    .macro eight_times text:vararg
    .rept 8
    \text
    .endr
    .endm

    # Memory.

    .macro slots_case name
    case \name, 4000, 1
    load_constant %r3, SLOTS
    li %r4, 0
    std %r4, 0(%r3)
    std %r4, 8(%r3)
    std %r4, 16(%r3)
    std %r4, 24(%r3)
    addi %r12, %r3, 128                 # a table of 16 doublewords
    li %r5, 16
    mtctr %r5
    addi %r6, %r3, 120
1:  stdu %r5, 8(%r6)
    bdnz 1b
    li %r5, 0
    li %r6, 0
    li %r7, 0
    measured_by_gpr
    .endm

    # A step of a table-driven sum, its state in registers, and in memory.
    .macro table_step
    xor %r8, %r5, %r6
    clrldi %r8, %r8, 60
    sldi %r8, %r8, 3
    ldx %r8, %r12, %r8
    srdi %r5, %r5, 8
    xor %r5, %r5, %r8
    addi %r6, %r6, 1
    addi %r7, %r7, 1
    .endm

    slots_case table_step_registers
    table_step
    end_case_counted

    slots_case table_step_memory
    ld %r5, 0(%r3)
    ld %r6, 8(%r3)
    ld %r7, 16(%r3)
    table_step
    std %r5, 0(%r3)
    std %r6, 8(%r3)
    std %r7, 16(%r3)
    end_case_counted

    # Four values from memory, eight additions to each, and back.
    slots_case slots_kept
    .irp place, 0, 1, 2, 3
    ld 5 + \place, 8 * \place(%r3)
    .endr
    .rept 8
    .irp place, 5, 6, 7, 8
    addi \place, \place, 1
    .endr
    .endr
    .irp place, 0, 1, 2, 3
    std 5 + \place, 8 * \place(%r3)
    .endr
    end_case_counted

    # A word stored, and the doubleword that it is half of loaded.
    slots_case word_in_doubleword
    ld %r5, 0(%r3)
    addi %r5, %r5, 1
    stw %r5, 0(%r3)
    end_case_counted

    # The same where a younger store lies beside what is loaded.
    slots_case byte_beside
    lbz %r5, 1(%r3)
    addi %r5, %r5, 1
    stb %r5, 1(%r3)
    stb %r4, 0(%r3)
    end_case_counted

    # Flags.

    .macro flags_case name
    case \name, 4000, 1
    li %r3, 1
    li %r4, 1
    rldicr %r4, %r4, 63, 0
    addi %r4, %r4, 3
    measured_by_gpr
    .endm

    .macro carry_in_cr
    add %r5, %r3, %r4
    cmpld %cr7, %r5, %r3
    isel %r3, %r4, %r5, 28
    .endm
    flags_case carry_in_cr_chain
    eight_times carry_in_cr
    end_case_counted

    .macro carry_through_gpr
    addc %r3, %r3, %r4
    mfxer %r5
    rlwinm %r5, %r5, 3, 31, 31
    add %r3, %r3, %r5
    .endm
    flags_case mfxer_chain
    eight_times carry_through_gpr
    end_case_counted

    .macro carry_cleared
    li %r5, 0
    mtxer %r5
    addc %r3, %r3, %r4
    addze %r3, %r3
    .endm
    flags_case mtxer_beside_chain
    eight_times carry_cleared
    end_case_counted

    .macro cr_through_gpr
    add %r5, %r3, %r4
    cmpld %cr7, %r5, %r3
    mfcr %r6
    mtcrf 0xFF, %r6
    isel %r3, %r4, %r5, 28
    .endm
    flags_case mfcr_mtcrf_chain
    eight_times cr_through_gpr
    end_case_counted

    # Additions: two chains of four, sixteen that wait for nothing, and record forms, read and unread.

    flags_case two_chains
    .rept 4
    add %r5, %r5, %r4
    add %r6, %r6, %r4
    .endr
    end_case_counted

    flags_case sixteen_independent_adds
    eight_independent_adds
    eight_independent_adds
    end_case_counted

    flags_case record_chain
    eight_times add. %r5, %r5, %r4
    end_case_counted

    .macro record_and_isel
    add. %r5, %r3, %r4
    isel %r3, %r4, %r5, 2
    .endm
    flags_case record_and_isel_chain
    eight_times record_and_isel
    end_case_counted

    # Barriers beside four dependent additions.

    .macro four_additions
    .rept 4
    addi %r5, %r5, 1
    .endr
    .endm
    slots_case store_and_additions
    std %r4, 0(%r3)
    four_additions
    end_case_counted
    slots_case store_eieio_and_additions
    std %r4, 0(%r3)
    eieio
    four_additions
    end_case_counted

    # Calls.

    case call_in_loop, 4000, 1
    measured_by_gpr
    bl add_and_return
    end_case_counted
    .balign 32
add_and_return:
    addi %r5, %r5, 1
    blr

    # A program of PROGRAM_LOG2 op-codes below 2^k, r4 = 2^k - 1; or as r5 says: 1 the same eight again and again, 2 nine
    # of ten of them zero. Every case goes on in it where its first pass ended, so that it is not learnt by heart.
fill_program:
    load_constant %r3, PROGRAM
    load_constant %r6, 0x3779B97F
    addi %r7, %r3, -1
    li %r8, 0
    load_constant %r9, 1 << PROGRAM_LOG2
    mtctr %r9
    load_constant %r16, 0x02030100      # 1, 2, 2, 0, 0, 1, 3, 2 from the low byte on
    load_constant %r17, 0x00020201
    sldi %r16, %r16, 32
    or %r16, %r16, %r17
    li %r18, 10
    li %r19, 3
1:  sldi %r9, %r6, 13
    xor %r6, %r6, %r9
    srdi %r9, %r6, 7
    xor %r6, %r6, %r9
    sldi %r9, %r6, 17
    xor %r6, %r6, %r9
    cmpwi %r5, 1
    beq 2f
    bgt 3f
    srdi %r9, %r6, 8
    and %r9, %r9, %r4
    b 5f
2:  clrlsldi %r9, %r8, 61, 3
    srd %r9, %r16, %r9
    clrldi %r9, %r9, 56
    b 5f
3:  srdi %r10, %r6, 24
    divdu %r9, %r10, %r18
    mulld %r9, %r9, %r18
    cmpd %r9, %r10
    li %r9, 0
    bne 5f
    srdi %r10, %r6, 32
    divdu %r9, %r10, %r19
    mulld %r9, %r9, %r19
    sub %r9, %r10, %r9
    addi %r9, %r9, 1
5:  stbu %r9, 1(%r7)
    addi %r8, %r8, 1
    bdnz 1b
    li %r4, 0
    li %r8, 0
    blr

    .macro program_case name, mask, kind=0
    case \name, 4000, 1
    cmpdi %r24, 0
    bne 1f
    li %r4, \mask
    li %r5, \kind
    bl fill_program
1:
    .endm

    # The next op-code to r5; r4 counts them.
    .macro next_code
    lbzx %r5, %r3, %r4
    addi %r4, %r4, 1
    clrldi %r4, %r4, 64 - PROGRAM_LOG2
    .endm

    # Two places that call, of which a random bit chooses one; what is called stands below.
    .macro two_callers name, call:vararg
    program_case \name, 1
    load_constant %r7, SLOTS
    address_of %r9, callee_\name
    measured_by_gpr
    next_code
    cmpwi %r5, 0
    beq 2f
    \call
    b 3f
    .balign 16
2:  \call
3:
    end_case_counted
    .balign 32
callee_\name:
    .endm

    .macro call_by_bl name
    bl callee_\name
    .endm
    .macro call_by_bctrl
    mtctr %r9
    bctrl
    .endm
    # LR, or CTR, by hand, and no call for the link stack to see.
    .macro call_by_hand name, mt
    bcl 20, 31, .+4
    mflr %r5
    addi %r5, %r5, 16
    \mt %r5
    b callee_\name
    .endm

    two_callers callers_bl_blr, call_by_bl callers_bl_blr
    addi %r8, %r8, 1
    blr

    two_callers callers_bctrl_blr, call_by_bctrl
    addi %r8, %r8, 1
    blr

    two_callers callers_bl_memory_blr, call_by_bl callers_bl_memory_blr
    mflr %r5
    std %r5, 64(%r7)
    ld %r5, 64(%r7)
    mtlr %r5
    addi %r8, %r8, 1
    blr

    two_callers callers_bl_bctr, call_by_bl callers_bl_bctr
    mflr %r5
    mtctr %r5
    addi %r8, %r8, 1
    bctr

    two_callers callers_by_hand_blr, call_by_hand callers_by_hand_blr, mtlr
    addi %r8, %r8, 1
    blr

    two_callers callers_by_hand_bctr, call_by_hand callers_by_hand_bctr, mtctr
    addi %r8, %r8, 1
    bctr

    # Calls within calls, LR saved in memory.
    .macro recursion depth
    case recursion_\depth, 400, 1
    load_constant %r7, SLOTS + 0x1000
    measured_by_gpr
    li %r5, \depth
    bl recurse
    end_case_counted
    .endm
    recursion 8
    recursion 24
    recursion 48
    recursion 96
    .balign 32
recurse:
    addi %r8, %r8, 1
    addi %r5, %r5, -1
    cmpdi %r5, 0
    beq 1f
    mflr %r6
    stdu %r6, -16(%r7)
    bl recurse
    ld %r6, 0(%r7)
    addi %r7, %r7, 16
    mtlr %r6
1:  blr

    # Interpreters: 16 handlers of 16 bytes, found by a table and one bctr, or the first four by compares.
    .macro handlers name
    .balign 16
handlers_\name:
    .set handler, 1
    .rept 16
    .balign 16
    addi %r8, %r8, handler
    b done_\name
    .set handler, handler + 1
    .endr
done_\name:
    .endm

    .macro interpreter name, mask, kind, compares
    program_case \name, \mask, \kind
    load_constant %r7, HANDLERS
    address_of %r6, handlers_\name
    li %r9, 0
2:  stdx %r6, %r7, %r9
    addi %r9, %r9, 8
    addi %r6, %r6, 16
    cmpdi %r9, 128
    bne 2b
    measured_by_gpr
    next_code
    .if \compares
    .irp code, 0, 1, 2, 3
    cmpdi %r5, \code
    beq handlers_\name + 16 * \code
    .endr
    .endif
    sldi %r5, %r5, 3
    ldx %r6, %r7, %r5
    mtctr %r6
    bctr
    handlers \name
    end_case_counted
    .endm

    interpreter bctr_period_8, 3, 1, 0
    interpreter bctr_random_4, 3, 0, 0
    interpreter bctr_random_16, 15, 0, 0
    interpreter bctr_skewed, 3, 2, 0
    interpreter compares_period_8, 3, 1, 1
    interpreter compares_random_4, 3, 0, 1
    interpreter compares_skewed, 3, 2, 1

    # Two bctr in one block of 32 bytes, each always to the same place.
    case bctr_twice_in_block, 4000, 1
    address_of %r5, 2f
    address_of %r6, 3f
    measured_by_gpr
    mtctr %r5
    bctr
2:  mtctr %r6
    bctr
3:  addi %r8, %r8, 1
    end_case_counted

    # Branches that are not taken, eight in a block, and with three additions behind each.
    case not_taken_packed, 4000, 1
    li %r5, 1
    cmpdi %cr7, %r5, 0
    measured_by_gpr
    .rept 8
    beq %cr7, 1f
    .endr
    addi %r8, %r8, 1
    end_case_counted
1:  trap
    case not_taken_spread, 4000, 1
    li %r5, 1
    cmpdi %cr7, %r5, 0
    measured_by_gpr
    .rept 8
    beq %cr7, 1f
    addi %r4, %r4, 1
    addi %r5, %r5, 1
    addi %r6, %r6, 1
    .endr
    addi %r8, %r8, 1
    end_case_counted
1:  trap

    # A ring of bctr, 64 bytes apart, each always to the next.
    .macro bctr_ring count, iterations
    case bctr_ring_\count, \iterations, \count
    address_of %r5, 2f
    addi %r6, %r5, 64 * (\count - 1)
    measured_by_gpr
    mr %r4, %r5
    mtctr %r4
    bctr
    .balign 64
2:
    .rept \count - 1
    addi %r4, %r4, 64
    mtctr %r4
    bctr
    .balign 64
    .endr
    addi %r21, %r21, -1
    cmpdi %r21, 0
    beq 1f
    b 9b                                # too far for bne
1:  end_mark
    .endm
    bctr_ring 64, 100
    bctr_ring 512, 20

    # A probe of a table of 2^17 entries of 16 bytes by an address: the address of the next block of code is found where
    # the key is right. `count` of them are used, each in a line of its own, in an order that no stride foresees.
    .set TABLE, SCRATCH + 0x200000
    .macro table_probe count, iterations
    case table_probe_\count, \iterations, 16
    load_constant %r4, SLOTS
    load_constant %r5, TABLE
    std %r5, 0(%r4)
    cmpdi %r24, 0
    bne 3f
    load_constant %r6, 1664525
    load_constant %r7, 1013904223
    li %r8, 0
    load_constant %r9, \count
    mtctr %r9
1:  sldi %r10, %r8, 7                   # this entry
    add %r10, %r10, %r5
    sldi %r11, %r8, 5                   # its key: an address whose bits from the second on say the line
    std %r11, 8(%r10)
    mulld %r8, %r8, %r6
    add %r8, %r8, %r7
    clrldi %r8, %r8, 64 - 14
    sldi %r11, %r8, 5
    std %r11, 0(%r10)
    bdnz 1b
    li %r11, 0
    std %r11, 0(%r10)                   # the last one leads to the first
    li %r3, 0
3:  measured
    .rept 16
    ld %r5, 0(%r4)
    rlwinm %r6, %r3, 2, 11, 27
    add %r6, %r6, %r5
    ld %r7, 8(%r6)
    cmpd %r7, %r3
    bne 2f
    xor %r7, %r7, %r3
    ldx %r3, %r6, %r7
    .endr
    end_case
2:  trap
    .endm
    table_probe 64, 400
    table_probe 1024, 400
    table_probe 16384, 2100

    # No-operations that fill four times the L1I.
    case nops_beyond_l1i, 6, 32768
    measured
    .rept 32768
    nop
    .endr
    bdz 1f
    b 9b
1:  end_mark

    # The time of day as Linux's shared library has it, called once in four additions: through the C library's
    # pointer, with the page of times read between two lwsync.
    .set TIMES, SLOTS + 0x200
    .macro clock_case name, is_called
    case \name, 1000, 1
    load_constant %r12, TIMES
    li %r4, 0
    std %r4, 0(%r12)
    std %r4, 8(%r12)
    std %r4, 16(%r12)
    std %r4, 24(%r12)
    address_of %r4, clock_entry
    std %r4, 32(%r12)
    load_constant %r3, SLOTS + 0x1000
    measured_by_gpr
    four_additions
    .if \is_called
    li %r15, 1
    bl clock_library
    .endif
    end_case_counted
    .endm
    clock_case clock_called, 1
    clock_case clock_not_called, 0
clock_library:
    mflr %r0
    std %r0, 16(%r3)
    stdu %r3, -96(%r3)
    ld %r11, 32(%r12)
    cmpdi %r11, 0
    beq 1f
    mtctr %r11
    bctrl
    addi %r3, %r3, 96
    ld %r0, 16(%r3)
    mtlr %r0
    blr
1:  trap
clock_entry:
    mflr %r0
    stdu %r3, -112(%r3)
    std %r0, 128(%r3)
    bcl 20, 31, .+4
    mflr %r10
    bl clock_read
    ld %r0, 128(%r3)
    addi %r3, %r3, 112
    mtlr %r0
    cmpwi %r9, 0
    bne 1b
    blr
clock_read:
    cmplwi %r15, 15
    bgt 1b
    li %r6, 1
    slw %r6, %r6, %r15
    andi. %r6, %r6, 0x883 | 2
    beq 1b
    lwz %r7, 0(%r12)                    # the count of changes, odd during one
    andi. %r6, %r7, 1
    bne 1b
    lwsync
    lwz %r6, 4(%r12)                    # the clock that is read
    cmpwi %r6, 0
    bne 1b
    mftb %r8
    ld %r9, 8(%r12)
    lwz %r10, 16(%r12)
    ld %r11, 24(%r12)
    sub %r8, %r8, %r9
    mulld %r8, %r8, %r10
    add %r8, %r8, %r11
    lwz %r10, 20(%r12)
    lwsync
    lwz %r6, 0(%r12)
    cmpw %r6, %r7
    bne 1b
    srd %r8, %r8, %r10
    ld %r6, 24(%r12)
    lis %r10, 0x3B9A
    cmpld %r8, %r10
    std %r6, 64(%r12)
    std %r8, 72(%r12)
    li %r9, 0
    blr
