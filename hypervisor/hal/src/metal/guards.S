# guards.S: what exits and entries do against speculation. `sites.S` leads here, and takes out again what is not wanted:
# without mitigations the way of an exit does not have one instruction more.
#
# docs/decisions/0010-mitigations.md says when each is due, docs/facts/speculation.md what it does.

    .section .guards, "ax"

    .set LINKS, 64                      # entries of the link stack
    .set TARGETS, 278                   # indirect branches that empty the count cache without help

# Reads the hypervisor's own code, twice as much as the L1 data cache holds. CR0 is lost.
.macro displace base, index, value
    lis \base, -0x4000
    sldi \base, \base, 32
    lis \index, 1
    ori \index, \index, 0x8000
.Ldisplace\@:
    addi \index, \index, -128
    ldx \value, \base, \index
    cmpldi \index, 0x8000
    bne .Ldisplace\@
.endm

.macro guard_stores
    site {NO_STORE_BARRIER}, .Lbarrier\@
    store_barrier
.Lbarrier\@:
.endm

# Before anything is loaded that the guest may have prepared.
.macro guard_exit
    site {NO_TRIGGER_AT_EXIT}, .Ltriggered\@
    mtspr {TRIG2}, %r0
.Ltriggered\@:
.endm

# What the functions look at first: behind a flush each line comes from the L2 cache, and here they come while the links are
# flushed, and not one after the other.
.macro warm_all base, value, bytes
    .set offset, 0
    .rept (\bytes + 127) / 128
    ld \value, offset(\base)
    .set offset, offset + 128
    .endr
    ld \value, \bytes - 8(\base)
.endm

# Before the first function. LR is lost.
.macro guard_call base, index, value
    ld \base, {GUEST}(%r13)
    ld \index, {SYSTEM}(%r13)
    warm_all \base, \value, {GUEST_BYTES}
    warm_all \index, \value, {SYSTEM_BYTES}
    site {NO_DISPLACEMENT_AT_EXIT}, .Ldisplaced\@
    displace \base, \index, \value
.Ldisplaced\@:
    site {NO_LINK_STACK}, .Llinks\@
    .rept LINKS
    bl .+4
    .endr
.Llinks\@:
.endm

# The last thing but the return: nothing is loaded behind it.
.macro guard_entry
    guard_stores
    site {NO_TRIGGER_AT_ENTRY}, .Ltriggered\@
    mtspr {TRIG2}, %r0
.Ltriggered\@:
.endm

# Before another guest's code runs. CTR and r9 are lost.
.macro flush_targets
    site {NO_TARGETS}, .Ltargets\@
    li %r9, 0x7FFF                      # the branch counts it down, and would be taken at zero
    mtctr %r9
    .long {TARGET_FLUSH}
    site {TARGETS_ASSISTED}, .Ltargets\@
    .rept TARGETS
    .balign 32
    .long {TARGET_FLUSH}
    .endr
.Ltargets\@:
.endm

# Where there is no trigger: what is loaded behind it is the guest's own.
.macro displace_for_entry base, index, value
    site {NO_DISPLACEMENT_AT_ENTRY}, .Ldisplaced\@
    displace \base, \index, \value
.Ldisplaced\@:
.endm

hypercall_real_guarded:                 # translation is still off
    guard_stores
    std %r11, {R11}(%r13)
    mfspr %r11, {SRR1}                  # before mtspr, behind which a read waits
    guard_exit
    ld %r12, {HYPERCALL_ENTRY}(%r13)
    addi %r12, %r12, 4                  # behind the place where SRR1 is read without guards
    mtctr %r12
    ld %r12, {HYPERCALLS_REAL}(%r13)
    addi %r12, %r12, 1
    std %r12, {HYPERCALLS_REAL}(%r13)
    ld %r12, {HOST_MSR}(%r13)
    bctr

hypercall_guarded:
    guard_stores
    mfspr %r11, {SRR1}
    guard_exit
    ld %r12, {HYPERCALLS_VIRTUAL}(%r13)
    addi %r12, %r12, 1
    std %r12, {HYPERCALLS_VIRTUAL}(%r13)
    b hypercall

hypercall_guarded_again:
    guard_call %r11, %r12, %r0
    ld %r2, {TOC}(%r13)
    b hypercall_goes_on

hypercall_return_guarded:               # r0 and r10 to r12 are zero
    displace_for_entry %r10, %r11, %r12
    li %r10, 0
    li %r11, 0
    li %r12, 0
    mtcrf VOLATILE_CR, %r0
    ld %r13, {GUEST_R13}(%r13)
    guard_entry
    rfid

exit_guarded:
    guard_stores
    guard_exit
    std %r11, {R11}(%r13)
    b exit_entered

exit_guarded_again:
    guard_call %r4, %r5, %r6
    ld %r2, {TOC}(%r13)
    b exit_goes_on

exit_return_guarded:                    # r7 is the guest's CR; LR, CTR and XER are the guest's already
    displace_for_entry %r4, %r5, %r6
    load_volatile
    guard_entry
    rfid

exit_return_hsrr_guarded:
    displace_for_entry %r4, %r5, %r6
    load_volatile
    guard_entry
    hrfid

enter_guarded:
    flush_targets
    displace_for_entry %r4, %r5, %r6
    load_guest
    guard_entry
    hrfid

enter_called_guarded:
    flush_targets
    displace_for_entry %r4, %r5, %r6
    load_guest
    guard_entry
    rfid

    .text
    .globl hal_replace
    .type hal_replace, @function
hal_replace:                            # r3 = address of an instruction, r4 = what it becomes
    mfmsr %r5
    li %r6, 0x30
    andc %r6, %r5, %r6
    mtmsrd %r6, 0                       # text is not written through its mapping; the address is the same without
    stw %r4, 0(%r3)
    dcbst 0, %r3
    sync
    icbi 0, %r3
    sync
    isync
    mtmsrd %r5, 0
    isync
    blr
    .size hal_replace, . - hal_replace
