# siblings.S: what other hardware threads cost one that works.
#
# The doubleword `mode` of the image says what the others do; whoever boots the image may write it:
#
#   byte 0      role: 0 none, all other cases; 1 they spin, `busy_thread`; 2 one answers, `ping_pong`;
#               3 none, the cases of curves.S; 4 they invalidate, `invalidation_storm`; 5 they spin, `beside_...`;
#               6 and 7, on POWER8, they do the same
#   byte 1      how many threads are started
#   byte 2      their priority: 1 very low to 5 medium high, 0 they wait in stop, 6 they snooze as Linux does
#   byte 3      whether their stop has ESL=EC=1, so that the core may take what they have
#   bytes 4-7   distance of their PIRs, little-endian

    .set ROLE_SPIN, 1
    .set ROLE_PING_PONG, 2
    .set ROLE_CURVES, 3
    .set ROLE_INVALIDATE, 4
    .set ROLE_BESIDE, 5
    .set ROLE_SAME, 6                   # these two in power8.S
    .set ROLE_STREAM, 7
    .set SNOOZE, 6
    .set SNOOZE_TICKS, 10240            # 20 us: the residency of the next state, stop0
    .set PIR, 1023
    .set LPCR_UPRT_HR, 0x0050
    .set PSSCR_NUMBER, 855
    .set OPAL_START_CPU, 41

    .section .mode, "aw"
    .balign 8
    .globl mode
mode:
    .quad 0

    .section .cases, "ax"
    # Asks firmware for the threads that the mode names.
start_siblings:
    mflr %r27
    address_of %r24, mode
    lbz %r25, 1(%r24)
    lwz %r24, 4(%r24)
    mfspr %r26, PIR
1:  cmpdi %r25, 0
    beq 2f
    add %r26, %r26, %r24
    mr %r3, %r26
    address_of %r4, sibling_entry
    li %r0, OPAL_START_CPU
    bl opal
    addi %r25, %r25, -1
    b 1b
2:  mtlr %r27
    blr

    .balign 128
sibling_entry:
    tdi 0, 0, 0x48                      # as in boot_entry
    b 1f
    .long 0xa600407d
    .long 0x01004a69
    .long 0xa64b5b7d
    .long 0x05009f42
    .long 0xa602687d
    .long 0x10006b39
    .long 0xa64b7a7d
    .long 0x2402004c
1:  address_of %r3, mode
    lbz %r4, 0(%r3)
    lbz %r5, 2(%r3)
    cmpdi %r4, ROLE_PING_PONG
    beq answer
    cmpdi %r4, ROLE_INVALIDATE
    beq invalidate
    .ifdef POWER8
    cmpdi %r4, ROLE_SAME
    beq same_work_beside
    cmpdi %r4, ROLE_STREAM
    beq stream_beside
    .endif
    cmpdi %r5, 0
    beq wait_in_stop
    cmpdi %r5, SNOOZE
    beq snooze
    cmpdi %r5, 1
    bne 2f
    or %r31, %r31, %r31
2:  cmpdi %r5, 2
    bne 3f
    or %r1, %r1, %r1
3:  cmpdi %r5, 3
    bne 4f
    or %r6, %r6, %r6
4:  cmpdi %r5, 5
    bne 5f
    or %r5, %r5, %r5
5:  .rept 4
    add %r4, %r4, %r5
    .endr
    b 5b

wait_in_stop:
    lbz %r4, 3(%r3)
    neg %r4, %r4
    clrlsldi %r4, %r4, 62, 20           # ESL and EC, or neither: then the thread keeps what it has
    lis %r3, 0x7FFF                     # no decrementer wakes it
    mtspr DEC, %r3
    mtspr PSSCR_NUMBER, %r4
1:  stop
    b 1b

# Linux's snooze: a poll at low and very low priority until its time is over. What the kernel does between that and
# the next poll at medium priority is not here.
snooze:
    load_constant %r3, SCRATCH + 128
1:  mftb %r6
    addi %r6, %r6, SNOOZE_TICKS
2:  ld %r4, 0(%r3)                      # need_resched()
    andi. %r4, %r4, 8
    bne 3f
    or %r1, %r1, %r1
    or %r31, %r31, %r31
    mftb %r4
    cmpld %r4, %r6
    ble 2b
3:  or %r2, %r2, %r2
    b 1b

    # Swaps the low byte of the word at SCRATCH, once it is `from`, for `to`: what LLVM 14 makes of C2C's loop around
    # Rust's `AtomicU8::compare_exchange` for a processor without lbarx. Where the byte is another one it stores the word
    # as it was.
    .macro swap_registers from, to
    load_constant %r3, SCRATCH
    li %r4, 0                           # where the byte is in its word
    li %r5, 255
    li %r7, \to
    li %r8, \from
    .endm

    .macro swap from
    b 3f
1:  stwcx. %r9, 0, %r3
2:  srw %r10, %r10, %r4
    cmplwi %r10, \from
    beq 4f
3:  lwarx %r9, 0, %r3
    and %r10, %r9, %r5
    cmpw %r10, %r8
    bne 1b
    andc %r9, %r9, %r5
    or %r9, %r9, %r7
    stwcx. %r9, 0, %r3
    bne 3b
    b 2b
4:
    .endm

answer:
    swap_registers 1, 0
5:  swap 1
    b 5b

    # One page of PID 0 everywhere: tlbie r5, r6 with RIC=0, PRS=1, R=1, and the wait for it.
    .macro invalidate_everywhere
    .long 0x7C030264 | 6 << 21 | 5 << 11
    eieio
    tlbsync
    ptesync
    .endm

    # Radix, which the invalidations are for; translation stays off.
    .macro radix_for_invalidations
    mfspr %r5, LPCR
    oris %r5, %r5, LPCR_UPRT_HR
    mtspr LPCR, %r5
    isync
    li %r5, 5 << 5
    li %r6, 0
    .endm

invalidate:
    radix_for_invalidations
1:  invalidate_everywhere
    b 1b

    case invalidation_storm, 300, 1, ROLE_INVALIDATE
    radix_for_invalidations
    measured
    invalidate_everywhere
    end_case

    # Eight independent adds, and a loop of two additions or compares and a branch.
    case busy_thread, 4000, 1, ROLE_SPIN
    li %r3, 1
    measured_by_gpr
    eight_independent_adds
    cmpdi %cr1, %r3, 0
    end_case_by_gpr

    # A line that goes to the other thread and comes back.
    case ping_pong, 500, 2, ROLE_PING_PONG
    swap_registers 0, 1
    measured
    swap 0
    end_case

# What PARM-M measured beside threads that spin; its eight independent adds are `busy_thread`. Each has its loop's addi,
# cmpdi and bne.

    case beside_chain, 2000, 1, ROLE_BESIDE
    li %r3, 1
    measured_by_gpr
    .rept 8
    add %r4, %r4, %r3
    .endr
    cmpdi %cr1, %r3, 0
    end_case_by_gpr

    case beside_increment, 2000, 1, ROLE_BESIDE
    load_constant %r3, SCRATCH
    measured_by_gpr
    ld %r4, 0(%r3)
    addi %r4, %r4, 1
    std %r4, 0(%r3)
    cmpdi %cr1, %r3, 0
    end_case_by_gpr

    case beside_bctr, 2000, 1, ROLE_BESIDE
    address_of %r3, bctr_target
    measured_by_gpr
    mtctr %r3
    bctr
    .balign 32
bctr_target:
    cmpdi %cr1, %r3, 0
    end_case_by_gpr

# Four bytes of a CRC with a table, as compilers make it. All bytes and the table are zero.
    case beside_crc, 1000, 1, ROLE_BESIDE
    load_constant %r3, SCRATCH + 0x1000 # the bytes
    load_constant %r4, SCRATCH + 0x2000 # the table
    li %r5, 0
    measured_by_gpr
    .irp byte, 0, 1, 2, 3
    lbz %r6, \byte(%r3)
    xor %r6, %r6, %r5
    rlwinm %r6, %r6, 2, 22, 29
    lwzx %r6, %r4, %r6
    srwi %r5, %r5, 8
    xor %r5, %r5, %r6
    .endr
    end_case_by_gpr

# A byte-code interpreter: one bctr for all, 14 codes a round, of which two have another target than the one before.
    .set CODE, SCRATCH + 0x3000
    case beside_interpreter, 500, 14, ROLE_BESIDE
    load_constant %r3, CODE
    li %r4, 0
    .irp place, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12
    stb %r4, \place(%r3)
    .endr
    li %r4, 1
    stb %r4, 13(%r3)
    load_constant %r9, SCRATCH + 0x4000 # its registers
    address_of %r10, interpreted
    measured_by_gpr
    mr %r11, %r3
2:  lbz %r5, 0(%r11)
    addi %r11, %r11, 1
    rldicr %r6, %r5, 6, 57
    add %r6, %r6, %r10
    mtctr %r6
    bctr
    .balign 64
interpreted:
    ld %r7, 0(%r9)                      # code 0: add two registers
    ld %r8, 8(%r9)
    add %r7, %r7, %r8
    addi %r12, %r12, 1
    xor %r13, %r7, %r12
    and %r14, %r12, %r8
    std %r7, 16(%r9)
    b 2b
    .balign 64
    ld %r7, 16(%r9)                     # code 1: the end of the program
    addi %r12, %r12, 2
    end_case_by_gpr

# Loops of loops.S, as they are there.
    .set common_role, ROLE_BESIDE

    slots_case beside_table_step
    ld %r5, 0(%r3)
    ld %r6, 8(%r3)
    ld %r7, 16(%r3)
    table_step
    std %r5, 0(%r3)
    std %r6, 8(%r3)
    std %r7, 16(%r3)
    end_case_counted

    interpreter beside_bctr_random, 3, 0, 0
    interpreter beside_bctr_period, 3, 1, 0

    two_callers beside_callers, call_by_bl beside_callers
    addi %r8, %r8, 1
    blr

    .set common_role, 0
