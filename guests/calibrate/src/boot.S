# boot.S: from OPAL's jump into the image to the cases, one after another, and power-off.
#
# At entry:  MSR = SF|HV, big-endian, translation off. r3 = device tree, r8/r9 = OPAL base/entry.
# In use:    r28/r29 = OPAL base/entry, r30 = the case's description, r31 = the end of them.

    .set OPAL_CONSOLE_WRITE, 1
    .set OPAL_SHUTDOWN, 5
    .set OPAL_POLL_EVENTS, 10
    .set OPAL_REINIT_CPUS, 70
    .set HILE_LE, 2
    .set HSRR0, 314
    .set HSRR1, 315

    .section .boot, "ax"
    .globl boot_entry
    .type boot_entry, @function
boot_entry:
    tdi 0, 0, 0x48                      # big-endian: a branch to the third word
    b boot_native
    .long 0xa600407d                    # mfmsr r10
    .long 0x01004a69                    # xori r10, r10, 1
    .long 0xa64b5b7d                    # mtspr HSRR1, r10
    .long 0x05009f42                    # bcl 20, 31, +4
    .long 0xa602687d                    # mflr r11
    .long 0x10006b39                    # addi r11, r11, 16
    .long 0xa64b7a7d                    # mtspr HSRR0, r11
    .long 0x2402004c                    # hrfid
boot_native:
    mr %r28, %r8
    mr %r29, %r9
    mfmsr %r3
    ori %r3, %r3, 0x2000                # FP
    mtmsrd %r3
    isync
    li %r3, HILE_LE                     # interrupts arrive little-endian
    li %r0, OPAL_REINIT_CPUS
    bl opal
    address_of %r30, calibration_start
    address_of %r31, calibration_end
    bl start_siblings
next:
    cmpld %r30, %r31
    bge finished
    address_of %r3, mode
    lbz %r3, 0(%r3)
    lwz %r4, 56(%r30)
    cmpd %r3, %r4
    bne other
    addi %r4, %r30, 12
    lwa %r3, 0(%r4)
    add %r3, %r3, %r4
    mtctr %r3
    bctrl
    sub %r26, %r23, %r22
    bl print_case
other:
    addi %r30, %r30, 64
    b next

finished:
    li %r3, 0
    li %r0, OPAL_SHUTDOWN
    bl opal
1:  li %r0, OPAL_POLL_EVENTS
    li %r3, 0
    bl opal
    b 1b

# Prints the name at r30 and the ticks in r26.
print_case:
    mflr %r27
    address_of %r4, line_end
    li %r5, 10
    stb %r5, 0(%r4)
1:  divdu %r6, %r26, %r5                # decimal digits, the last one first
    mulld %r7, %r6, %r5
    sub %r7, %r26, %r7
    addi %r7, %r7, '0'
    stbu %r7, -1(%r4)
    mr. %r26, %r6
    bne 1b
    li %r7, ' '
    stbu %r7, -1(%r4)
    addi %r6, %r30, 15                  # the name in front, its last character first
2:  lbzu %r7, 1(%r6)
    cmpdi %r7, 0
    bne 2b
3:  lbzu %r7, -1(%r6)
    stbu %r7, -1(%r4)
    addi %r8, %r30, 16
    cmpld %r6, %r8
    bgt 3b
    address_of %r5, line_end
    addi %r5, %r5, 1
    sub %r6, %r5, %r4                   # length
    mr %r5, %r4                         # buffer
    address_of %r4, line_length
    li %r7, 0
    stdbrx %r6, 0, %r4
    li %r3, 0
    li %r0, OPAL_CONSOLE_WRITE
    bl opal
    li %r0, OPAL_POLL_EVENTS
    li %r3, 0
    bl opal
    mtlr %r27
    blr

# Calls firmware with the token in r0 and arguments from r3: big-endian, and back. Keeps r13-r31 but r14-r16.
opal:
    mflr %r16
    mfmsr %r14
    address_of %r15, opal_native
    address_of %r12, opal_return
    mtlr %r12
    mtspr HSRR0, %r29
    li %r11, 0x31                       # IR, DR and LE
    andc %r11, %r14, %r11
    mtspr HSRR1, %r11
    mr %r2, %r28
    hrfid
opal_return:
    .long 0xa64bfa7d                    # mtspr HSRR0, r15
    .long 0xa64bdb7d                    # mtspr HSRR1, r14
    .long 0x2402004c                    # hrfid
opal_native:
    mtlr %r16
    blr
    .size boot_entry, . - boot_entry

    .data
    .balign 128
line:
    .space 120
line_end:
    .space 8
line_length:
    .quad 0
