# boot.S: from OPAL's jump into the image to the first slice; behind the last one, the console and power-off.
#
# At entry:  MSR = SF|HV, big-endian, translation off. r3 = device tree, r8/r9 = OPAL base/entry.
# From here: r17 = device tree, r28/r29 = OPAL base/entry. Partitions use r3 to r7 alone; switch.S says what else stays.

    .set OPAL_CONSOLE_WRITE, 1
    .set OPAL_SHUTDOWN, 5
    .set OPAL_POLL_EVENTS, 10
    .set OPAL_REINIT_CPUS, 70
    .set HILE_LE, 2

    .set MPPR, 184
    .set HSPRG0, 304
    .set HDEC, 310
    .set RMOR, 312
    .set HSRR0, 314
    .set HSRR1, 315
    .set LPCR, 318
    .set LPIDR, 319

# RMLS: 32 MiB from RMOR on. HDICE: the hypervisor decrementer interrupts.
    .set LPCR_RMLS_32M, 0x20000000
    .set LPCR_HDICE, 1

# Real addresses that nobody uses under OPAL: partitions' memory, and the tables.
    .set MEMORY, 0x04000000
    .set MEMORY_LOG2, 25
    .set TABLES, 0x0E000000
    .set TABLE_LOG2, 17
# Addresses of a partition's own: its code, and what it goes through.
    .set CODE, 0x1000
    .set AREA, 0x100000

# What is kept of a partition: r3 to r6, CR, where it goes on and in which state; the rest is for switch.S.
    .set RECORD_LOG2, 7
    .set SAVED_R3, 0
    .set SAVED_R4, 8
    .set SAVED_R5, 16
    .set SAVED_R6, 24
    .set SAVED_CR, 32
    .set SAVED_PC, 40
    .set SAVED_MSR, 48
    .set ITS_TABLE, 56
    .set IS_LOGGED, 64
    .set ITS_MEMORY, 72

# The address of a label, wherever the image lies. Loses LR.
    .macro address_of register, label
    bcl 20, 31, .+4
.Lhere\@:
    mflr \register
    addis \register, \register, (\label - .Lhere\@)@ha
    addi \register, \register, (\label - .Lhere\@)@l
    .endm

    .macro load_constant register, value
    lis \register, (\value) >> 16
    ori \register, \register, (\value) & 0xFFFF
    .endm

# The number behind `name` in the device tree, or `otherwise`, into `register`.
    .macro option register, name, otherwise
    .pushsection .data
.Lname\@:
    .asciz "\name="
    .popsection
    address_of %r3, .Lname\@
    li %r4, \otherwise
    bl find_number
    mr \register, %r3
    .endm

    .section .boot, "ax"
    .globl boot_entry
    .type boot_entry, @function
boot_entry:
    tdi 0, 0, 0x48                      # big-endian: a branch to the third word
    b native
    .long 0xa600407d                    # mfmsr r10
    .long 0x01004a69                    # xori r10, r10, 1
    .long 0xa64b5b7d                    # mtspr HSRR1, r10
    .long 0x05009f42                    # bcl 20, 31, +4
    .long 0xa602687d                    # mflr r11
    .long 0x10006b39                    # addi r11, r11, 16
    .long 0xa64b7a7d                    # mtspr HSRR0, r11
    .long 0x2402004c                    # hrfid
native:
    mr %r17, %r3
    mr %r28, %r8
    mr %r29, %r9
    li %r3, HILE_LE                     # interrupts arrive little-endian
    li %r0, OPAL_REINIT_CPUS
    bl opal

    option %r25, "vcores", 2
    option %r24, "slice", 1000
    sldi %r24, %r24, 9                  # 512 ticks are a microsecond
    option %r22, "slices", 4
    option %r18, "warm", 2
    option %r23, "engine", 0
    option %r31, "rate", 0
    sldi %r31, %r31, 56                 # MPPR: bits 5:7 are the rate, 2:3 ask for all of the table
    li %r3, 2
    sldi %r3, %r3, 60
    or %r31, %r31, %r3
    subfic %r30, %r23, 3                # logmpp: 8:9 are 2 for the L2 and 1 for both
    sldi %r30, %r30, 54
    add %r3, %r22, %r18                 # all slices, up to the end of the first partition's last one
    addi %r3, %r3, -1
    mulld %r22, %r3, %r25
    addi %r22, %r22, 1
    address_of %r26, records
    li %r19, 0

    option %r10, "kind0", 0
    option %r11, "set0", 256
    li %r21, 0
    bl prepare
    option %r10, "kind1", 0
    option %r11, "set1", 256
    li %r21, 1
    bl prepare
    option %r10, "kind2", 0
    option %r11, "set2", 256
    li %r21, 2
    bl prepare
    option %r10, "kind3", 0
    option %r11, "set3", 256
    li %r21, 3
    bl prepare

    address_of %r3, vector              # the hypervisor decrementer's vector
    li %r4, 0x980
    ld %r5, 0(%r3)
    std %r5, 0(%r4)
    ld %r5, 8(%r3)
    std %r5, 8(%r4)
    dcbst 0, %r4
    sync
    icbi 0, %r4
    isync
    load_constant %r3, LPCR_RMLS_32M | LPCR_HDICE
    mtspr LPCR, %r3
    isync
    address_of %r3, 1f                  # one from before would end the first slice at once
    mtspr HSPRG0, %r3
    mtspr HDEC, %r24
    mfmsr %r3
    ori %r4, %r3, 0x8000
    mtmsrd %r4, 1
    isync
1:  mtmsrd %r3, 1
    address_of %r3, switch
    mtspr HSPRG0, %r3
    tdi 0, 0, 0x4002                    # region 2: timing begins
    tdi 0, 0, 0x4802
    li %r21, 0
    mr %r20, %r26
    b enter

# Everything is done: what each partition did, and power-off.
finished:
    li %r21, 0
1:  sldi %r20, %r21, RECORD_LOG2
    add %r20, %r20, %r26
    address_of %r3, did
    ld %r4, SAVED_R4(%r20)
    bl print
    addi %r21, %r21, 1
    cmpd %r21, %r25
    blt 1b
    address_of %r3, done
    li %r4, -1
    bl print
    li %r3, 0
    li %r0, OPAL_SHUTDOWN
    bl opal
1:  li %r0, OPAL_POLL_EVENTS
    li %r3, 0
    bl opal
    b 1b

# The number in the device tree behind the text at r3, or r4.
find_number:
    mflr %r12
    li %r5, 4
    lwbrx %r5, %r17, %r5                # the tree's size, big-endian
    add %r5, %r17, %r5
    mr %r6, %r17
1:  mr %r7, %r3
    mr %r8, %r6
2:  lbz %r9, 0(%r7)
    cmpdi %r9, 0
    beq 3f
    lbz %r13, 0(%r8)
    addi %r7, %r7, 1
    addi %r8, %r8, 1
    cmpd %r9, %r13
    beq 2b
    addi %r6, %r6, 1
    cmpld %r6, %r5
    blt 1b
    mr %r3, %r4
    b 5f
3:  li %r3, 0
4:  lbz %r9, 0(%r8)
    addi %r9, %r9, -'0'
    cmpldi %r9, 9
    bgt 5f
    mulli %r3, %r3, 10
    add %r3, %r3, %r9
    addi %r8, %r8, 1
    b 4b
5:  mtlr %r12
    blr

# Prints the text at r3, and the number in r4 if it is not negative, on a line.
print:
    mflr %r27
    address_of %r5, line
    mr %r6, %r5
1:  lbz %r7, 0(%r3)
    addi %r3, %r3, 1
    cmpdi %r7, 0
    beq 2f
    stb %r7, 0(%r6)
    addi %r6, %r6, 1
    b 1b
2:  cmpdi %r4, 0
    blt 5f
    li %r8, 10                          # room for the digits, then the digits from the last one on
    mr %r9, %r4
3:  addi %r6, %r6, 1
    divdu. %r9, %r9, %r8
    bne 3b
    mr %r10, %r6
4:  divdu %r9, %r4, %r8
    mulld %r11, %r9, %r8
    sub %r11, %r4, %r11
    addi %r11, %r11, '0'
    stbu %r11, -1(%r10)
    mr. %r4, %r9
    bne 4b
5:  li %r7, 10
    stb %r7, 0(%r6)
    addi %r6, %r6, 1
    sub %r6, %r6, %r5
    address_of %r4, line_length
    stdbrx %r6, 0, %r4
    li %r3, 0
    li %r0, OPAL_CONSOLE_WRITE
    bl opal
    li %r0, OPAL_POLL_EVENTS
    li %r3, 0
    bl opal
    mtlr %r27
    blr

# Calls firmware with the token in r0 and arguments from r3: big-endian, and back. Keeps r17 to r31.
opal:
    mflr %r16
    mfmsr %r14
    address_of %r15, 2f
    address_of %r12, 1f
    mtlr %r12
    li %r11, 1
    andc %r11, %r14, %r11
    mtspr HSRR0, %r29
    mtspr HSRR1, %r11
    mr %r2, %r28
    hrfid
1:  .long 0xa64bfa7d                    # mtspr HSRR0, r15
    .long 0xa64bdb7d                    # mtspr HSRR1, r14
    .long 0x2402004c                    # hrfid
2:  mtlr %r16
    blr
    .size boot_entry, . - boot_entry

    .data
did:
    .asciz "prefetch-engine: a partition did "
done:
    .asciz "prefetch-engine: done"
    .balign 128
records:
    .space 4 << RECORD_LOG2
line:
    .space 120
line_length:
    .quad 0
