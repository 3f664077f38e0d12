# hash.S: exits and entries of a partition with a hashed page table, and its segment lookaside buffer.
#
# The hypervisor is translated by its radix tree, so LPCR[HR] and LPCR[UPRT] change at each exit and entry, and LPIDR with
# them, since LPCR[HR] is to be what the partition that LPIDR names has. Both change with relocation off. LPIDR is 0 while
# the hypervisor is translated. An exit of such a partition always comes to the real door, which leads here by the PerCpu.
# docs/facts/kvm-exit.md#hash-partitions has the order.
#
# A call of the hashed page table, one for entries of a device's window, and one that nobody knows, is answered with
# relocation off and the partition's LPCR and LPIDR: image and heap have the same addresses then, and nothing else is reached.
# docs/decisions/0013-hash-calls-in-the-partitions-context.md says why. Experiments may have them answered elsewhere.
#
# The segment lookaside buffer keeps the partition's entries meanwhile: radix translation does not look into it.
#
# On POWER8 the hypervisor's MSR has relocation off, and LPIDR and LPCR stay the partition's:
# docs/decisions/0014-the-hypervisor-on-power8.md. `leave_partition` and `enter_partition` are the processor's.

    .section .guards, "ax"

.macro keep_caller                      # r0 = its r13, r11 = SRR1
    ld %r12, {NOT_A_GUEST_KERNEL}(%r13)
    std %r0, {GUEST_R13}(%r13)
    mflr %r0
    std %r1, {GUEST_R1}(%r13)
    std %r2, {GUEST_R2}(%r13)
    and. %r11, %r11, %r12               # MSR[HV] or MSR[PR]
    std %r0, {GUEST_LR}(%r13)
    bne- hash_refused
    ld %r1, {STACK}(%r13)
.endm

# As `hypercall`, but r11 is the guest's still, the eighth argument, and r12 the hypervisor's MSR. Relocation stays off.
    .globl hal_hypercall_hash
hal_hypercall_hash:
    b hypercall_hash_unguarded
hypercall_hash_guarded:                 # both are done
    keep_caller
    site {AT_CALL}, hash_hypercall_guarded
    ld %r2, {TOC}(%r13)
hash_hypercall_goes_on:
    bl hal_hash_hypercall               # 0, 2 and 3 as hal_hypercall, with r4-r11; 4 is not answered, r3-r10 are in the record
hash_answered:
    displace_for_entry %r5, %r6, %r7
    cmpldi %r4, 0
    ld %r0, {GUEST_LR}(%r13)
    ld %r1, {GUEST_R1}(%r13)
    ld %r2, {GUEST_R2}(%r13)
    bne- hash_with_outputs
    li %r5, 0                           # nothing of the hypervisor's stays in a register
    li %r6, 0
    li %r7, 0
    li %r8, 0
    li %r9, 0
    li %r10, 0
    li %r11, 0
hash_return:
    mtlr %r0
    li %r0, 0
    mtctr %r0
    mtxer %r0
    mtcrf VOLATILE_CR, %r0
    li %r12, 0
    ld %r13, {GUEST_R13}(%r13)
    guard_entry
    rfid

hypercall_hash_unguarded:
    std %r11, {R11}(%r13)
    mfspr %r11, {SRR1}
    b hypercall_hash_guarded

hash_with_outputs:
    cmpldi %r4, 3
    ld %r12, {VCPU}(%r13)
    bne hash_translated
    .irp index, 4, 5, 6, 7, 8, 9, 10, 11
    ld %r\index, {GPR} + \index*8(%r12)
    .endr
    b hash_return

# All other calls are answered where the hypervisor is translated.
hash_translated:
    cmpldi %cr1, %r4, 2
    .irp index, 3, 4, 5, 6, 7, 8, 9, 10
    ld %r\index, {GPR} + \index*8(%r12)
    .endr
    ld %r12, {HOST_MSR}(%r13)
    ld %r1, {STACK}(%r13)
    ld %r2, {TOC}(%r13)
    leave_partition %r0, %r11
    mtmsrd %r12, 0
    beq- %cr1, hash_departs
    bl hal_hypercall
hash_translated_answered:
    cmpldi %r4, 1
    ld %r0, {GUEST_LR}(%r13)
    ld %r1, {GUEST_R1}(%r13)
    ld %r2, {GUEST_R2}(%r13)
    beq hash_offer
    cmpldi %r4, 2
    bne 1f
    b hypercall_leave                   # too far for a conditional branch, as some below
1:  enter_partition %r12
    b hash_answered

hash_departs:
    li %r4, 2
    b hash_translated_answered

hash_offer:
    offer_hypercall
    beq 2f
    b guest_left
2:  ld %r3, {GPR} + 3*8(%r11)
    li %r4, 0
    b hash_translated_answered

# As hal_hypercall_hash, but all calls are answered where the hypervisor is translated, or once the vCPU has left: to measure
# what the other way saves.
    .globl hal_hypercall_hash_elsewhere
hal_hypercall_hash_elsewhere:
    b elsewhere_unguarded
elsewhere_guarded:                      # both are done
    keep_caller
    site {AT_CALL}, elsewhere_guarded_again
    ld %r2, {TOC}(%r13)
elsewhere_goes_on:
    ld %r12, {HOST_MSR}(%r13)
    leave_partition %r0, %r11
    mtmsrd %r12, 0
    bl hal_hash_hypercall_elsewhere     # as hal_hash_hypercall, but nothing is left unanswered
    b hash_translated_answered

elsewhere_unguarded:
    std %r11, {R11}(%r13)
    mfspr %r11, {SRR1}
    b elsewhere_guarded

elsewhere_guarded_again:
    guard_call %r11, %r12, %r0
    ld %r2, {TOC}(%r13)
    b elsewhere_goes_on

hash_refused:
    rldicl. %r11, %r11, 4, 63
    bne hash_host_system_call
    li %r3, {H_PRIVILEGE}
    li %r4, 0
    b hash_answered
hash_host_system_call:
    ld %r0, {GUEST_R13}(%r13)
    ld %r1, {GUEST_R1}(%r13)
    ld %r2, {GUEST_R2}(%r13)
    b exit_host_system_call

hash_hypercall_guarded:
    guard_call %r11, %r12, %r0
    ld %r2, {TOC}(%r13)
    b hash_hypercall_goes_on

# As `exit_real_high`. Such an exit always leaves, since the way back is that of an entry.
    .globl hal_exit_hash_high
hal_exit_hash_high:
    ld %r11, {CTR_SLOT}(%r13)
    mtctr %r11
    guard_stores
    guard_exit
    std %r10, {R10}(%r13)
    mfcr %r10
    andi. %r11, %r12, HSRR
    bne 1f
    mfspr %r11, {SRR1}
    b 2f
1:  mfspr %r11, {HSRR1}
2:  rldicl. %r11, %r11, 4, 63           # MSR[HV]: the hypervisor was interrupted
    beq 3f
    b host_interrupted
3:  std %r10, {CODE}(%r13)              # until the record has CR
    leave_partition %r10, %r11
    ld %r11, {HOST_MSR}(%r13)
    mtmsrd %r11, 0
    ld %r10, {CODE}(%r13)
    ld %r11, {VCPU}(%r13)
    record_exit
    site {AT_CALL}, hash_exit_guarded
    ld %r2, {TOC}(%r13)
hash_exit_goes_on:
    mr %r3, %r12
    bl hal_hash_exit
    ld %r12, {CODE}(%r13)
    ld %r11, {VCPU}(%r13)
    b exit_leave

hash_exit_guarded:
    guard_call %r4, %r5, %r6
    ld %r2, {TOC}(%r13)
    b hash_exit_goes_on

.macro load_hash_guest                  # r3 = record
    ld %r4, {GPR} + 11*8(%r3)
    ld %r5, {GPR} + 12*8(%r3)
    ld %r6, {GPR} + 13*8(%r3)
    std %r4, {R11}(%r13)
    std %r5, {R12}(%r13)
    std %r6, {GUEST_R13}(%r13)
    load_first
    load_last
    enter_partition %r12
    ld %r11, {R11}(%r13)
    ld %r12, {R12}(%r13)
    ld %r13, {GUEST_R13}(%r13)
.endm

hash_enter_guarded:
    flush_targets
    displace_for_entry %r4, %r5, %r6
    load_hash_guest
    guard_entry
    hrfid

    .text
# hal_enter_hash_guest(record), as hal_enter_guest.
    .globl hal_enter_hash_guest
    .type hal_enter_hash_guest, @function
hal_enter_hash_guest:
    save_host
    set_return
    site {AT_ENTRY}, hash_enter_guarded
    load_hash_guest
    hrfid
    .size hal_enter_hash_guest, . - hal_enter_hash_guest

    .set SEGMENTS, {SEGMENTS}
    .set SLB_VALID, 0x0800              # of the upper half of the doubleword "ESID"

# hal_read_segments(into, MSR with relocation off, LPCR): all entries, which with LPCR[UPRT]=1 nobody reaches.
    .globl hal_read_segments
    .type hal_read_segments, @function
hal_read_segments:
    mfmsr %r9
    mfspr %r10, {LPCR}
    mtmsrd %r4, 0
    mtspr {LPCR}, %r5
    isync
    li %r6, {SEGMENTS}
    mtctr %r6
    li %r6, 0
1:  slbmfee %r7, %r6
    andis. %r0, %r7, SLB_VALID
    li %r8, 0
    beq 2f
    slbmfev %r8, %r6
2:  std %r7, 0(%r3)
    std %r8, 8(%r3)
    addi %r3, %r3, 16
    addi %r6, %r6, 1
    bdnz 1b
    isync
    mtspr {LPCR}, %r10
    isync
    mtmsrd %r9, 0
    isync
    blr
    .size hal_read_segments, . - hal_read_segments

# hal_write_segments(from, MSR with relocation off, LPCR): these, and no others.
    .globl hal_write_segments
    .type hal_write_segments, @function
hal_write_segments:
    mfmsr %r9
    mfspr %r10, {LPCR}
    mtmsrd %r4, 0
    mtspr {LPCR}, %r5
    isync
    li %r6, 0
    slbmte %r6, %r6
    .long {SLBIA}                       # all but the first, with what was translated by them
    isync
    li %r7, {SEGMENTS}
    mtctr %r7
1:  ld %r7, 0(%r3)
    andis. %r0, %r7, SLB_VALID
    beq 2f
    ld %r8, 8(%r3)
    or %r7, %r7, %r6
    slbmte %r8, %r7
2:  addi %r3, %r3, 16
    addi %r6, %r6, 1
    bdnz 1b
    isync
    mtspr {LPCR}, %r10
    isync
    mtmsrd %r9, 0
    isync
    blr
    .size hal_write_segments, . - hal_write_segments
