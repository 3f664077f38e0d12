# siblings.S: what other hardware threads cost one that works.
#
# The doubleword `mode` of the image says what the others do; whoever boots the image may write it:
#
#   byte 0      role: 0 none, all other cases; 1 they spin, `busy_thread`; 2 one answers, `ping_pong`;
#               3 none, the cases of curves.S
#   byte 1      how many threads are started
#   byte 2      their priority: 1 very low to 5 medium high, 0 they wait in stop
#   byte 3      whether their stop has ESL=EC=1, so that the core may take what they have
#   bytes 4-7   distance of their PIRs, little-endian

    .set ROLE_SPIN, 1
    .set ROLE_PING_PONG, 2
    .set ROLE_CURVES, 3
    .set PIR, 1023
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
    cmpdi %r5, 0
    beq wait_in_stop
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

answer:
    load_constant %r3, SCRATCH
    li %r5, 0
1:  lwz %r4, 0(%r3)
    cmpwi %r4, 1
    bne 1b
    stw %r5, 0(%r3)
    b 1b

    # Eight independent adds, and a loop of two additions or compares and a branch.
    case busy_thread, 4000, 1, ROLE_SPIN
    li %r3, 1
    measured_by_gpr
    eight_independent_adds
    cmpdi %cr1, %r3, 0
    end_case_by_gpr

    # A line that goes to the other thread and comes back.
    case ping_pong, 500, 2, ROLE_PING_PONG
    load_constant %r3, SCRATCH
    li %r5, 1
    measured
1:  lwz %r4, 0(%r3)
    cmpwi %r4, 0
    bne 1b
    stw %r5, 0(%r3)
    end_case
