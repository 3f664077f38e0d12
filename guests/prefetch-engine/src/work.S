# work.S: what partitions execute, and how their memory is prepared. r4 counts what was done.

    .text

# Partition r21 does what r10 says in r11 KiB.
    .globl prepare
    .type prepare, @function
prepare:
    mflr %r12
    sldi %r20, %r21, RECORD_LOG2
    add %r20, %r20, %r26
    sldi %r8, %r21, MEMORY_LOG2
    addis %r8, %r8, MEMORY >> 16
    std %r8, ITS_MEMORY(%r20)
    sldi %r9, %r21, TABLE_LOG2
    addis %r9, %r9, TABLES >> 16
    std %r9, ITS_TABLE(%r20)
    li %r9, 0
    std %r9, IS_LOGGED(%r20)
    std %r9, SAVED_CR(%r20)
    std %r9, SAVED_R4(%r20)
    lis %r9, AREA >> 16
    std %r9, SAVED_R3(%r20)
    std %r9, SAVED_R6(%r20)
    sldi %r7, %r11, 10
    add %r7, %r7, %r9
    std %r7, SAVED_R5(%r20)
    li %r7, CODE
    cmpdi %r10, 0
    beq 1f
    addi %r7, %r7, in_order - follow
1:  std %r7, SAVED_PC(%r20)
    li %r7, 1                           # MSR: SF, ME, LE
    sldi %r7, %r7, 63
    ori %r7, %r7, 0x1001
    std %r7, SAVED_MSR(%r20)

    # Its code.
    address_of %r3, follow
    addi %r4, %r8, CODE
    li %r5, (work_end - follow) / 4
    mtctr %r5
1:  lwz %r5, 0(%r3)
    stw %r5, 0(%r4)
    icbi 0, %r4
    addi %r3, %r3, 4
    addi %r4, %r4, 4
    bdnz 1b
    sync
    isync

    # A chain through all lines of its area: behind line n comes line 1493 n + 1013, which meets each of a power of two once.
    sldi %r3, %r11, 3                   # lines
    addi %r5, %r3, -1
    mtctr %r3
    add %r6, %r8, %r9                   # where line n lies
    li %r3, 0
2:  mulli %r4, %r3, 1493
    addi %r4, %r4, 1013
    and %r4, %r4, %r5
    sldi %r4, %r4, 7
    add %r4, %r4, %r9
    std %r4, 0(%r6)
    addi %r6, %r6, 128
    addi %r3, %r3, 1
    bdnz 2b
    mtlr %r12
    blr
    .size prepare, . - prepare

# A load for each step, of which each waits for the one before.
    .balign 32
follow:
    ld %r3, 0(%r3)
    addi %r4, %r4, 1
    b follow

# A load for each line from r6 to r5, again and again.
    .balign 32
in_order:
    ld %r7, 0(%r3)
    addi %r3, %r3, 128
    addi %r4, %r4, 1
    cmpld %r3, %r5
    blt in_order
    mr %r3, %r6
    b in_order
work_end:
