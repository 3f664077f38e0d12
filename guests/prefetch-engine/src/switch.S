# switch.S: from the end of a slice to the beginning of the next one.
#
# r18 = turns left until the first partition's slices are measured, r19 = whether one is, r20 = record of the partition that
# runs, r21 = its number, r22 = slices left, r23 = what the engine does, r24 = ticks of a slice, r25 = partitions, r26 =
# records, r30/r31 = operands of logmpp and MPPR without the table. Partitions leave these alone.

    .text

# At 0x980: four words.
    .balign 8
vector:
    mfspr %r8, HSPRG0
    mtctr %r8
    bctr
    nop

    .globl switch
    .type switch, @function
switch:
    cmpdi %r19, 0
    beq 1f
    tdi 0, 0, 0x4801                    # end of region 1
    li %r19, 0
1:  std %r3, SAVED_R3(%r20)
    std %r4, SAVED_R4(%r20)
    std %r5, SAVED_R5(%r20)
    std %r6, SAVED_R6(%r20)
    mfcr %r8
    std %r8, SAVED_CR(%r20)
    mfspr %r8, HSRR0
    std %r8, SAVED_PC(%r20)
    mfspr %r8, HSRR1
    std %r8, SAVED_MSR(%r20)
    addi %r22, %r22, -1
    cmpdi %r22, 0
    beq finished
    addi %r21, %r21, 1
    cmpd %r21, %r25
    blt 2f
    li %r21, 0
    cmpdi %r18, 1                       # the first partition is next: is its slice measured?
    addi %r18, %r18, -1
    bgt 2f
    tdi 0, 0, 0x4001                    # begin of region 1
    li %r19, 1
2:  cmpdi %r23, 0
    beq 4f
    cmpdi %r25, 1                       # it comes straight back: nothing to save
    beq 4f
    # A fetch that is still under way is of no use any more. The log has to be whole before the engine fetches.
    ld %r8, ITS_TABLE(%r20)
    mtspr MPPR, %r8
    or %r9, %r8, %r30
    .long 0x7d2007e4                    # logmpp, its operand in r9 as RS
    li %r9, 1
    std %r9, IS_LOGGED(%r20)
3:  mfspr %r9, MPPR
    andi. %r9, %r9, 1
    bne 3b
4:  sldi %r20, %r21, RECORD_LOG2
    add %r20, %r20, %r26

# The partition at r20 runs for a slice.
enter:
    ld %r8, ITS_MEMORY(%r20)
    mtspr RMOR, %r8
    addi %r9, %r21, 1
    mtspr LPIDR, %r9
    isync
    ld %r8, IS_LOGGED(%r20)
    cmpdi %r8, 0
    beq 5f
    cmpdi %r25, 1
    beq 5f
    ld %r8, ITS_TABLE(%r20)
    or %r8, %r8, %r31
    mtspr MPPR, %r8
5:  mtspr HDEC, %r24
    ld %r8, SAVED_PC(%r20)
    mtspr HSRR0, %r8
    ld %r8, SAVED_MSR(%r20)
    mtspr HSRR1, %r8
    ld %r8, SAVED_CR(%r20)
    mtcr %r8
    ld %r3, SAVED_R3(%r20)
    ld %r4, SAVED_R4(%r20)
    ld %r5, SAVED_R5(%r20)
    ld %r6, SAVED_R6(%r20)
    hrfid
    .size switch, . - switch
