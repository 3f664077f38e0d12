# floating.S: hal_save_floating(record) and hal_load_floating(record); the same with _on behind their names where MSR[FP] is
# set already.
#
# The hypervisor has no floating point. MSR[FP] is on with the rest of its own MSR, but off behind an exit that arrived translated: then it is
# set here, and stays until the next guest is entered, as that sets MSR anyway. lfd and stfd reach the doubleword 0
# of VSR0-31; the rest of the vector-scalar registers is vector_scalar.S's.

    .set MSR_FP, 0x2000

    .text
.macro each_register instruction
    .set index, 0
    .rept 32
    \instruction index, {VSR} + 16*index + 8(%r3)
    .set index, index + 1
    .endr
.endm

    .globl hal_save_floating
    .type hal_save_floating, @function
hal_save_floating:
    mfmsr %r4                           # a write is dearer
    andi. %r5, %r4, MSR_FP
    bne hal_save_floating_on
    ori %r4, %r4, MSR_FP
    mtmsrd %r4, 0
    .globl hal_save_floating_on
hal_save_floating_on:
    each_register stfd
    mffs %f0
    stfd %f0, {FPSCR}(%r3)
    lfd %f0, {VSR} + 8(%r3)
    blr
    .size hal_save_floating, . - hal_save_floating

    .globl hal_load_floating
    .type hal_load_floating, @function
hal_load_floating:
    mfmsr %r4                           # a write is dearer, and another vCPU's registers may just have been saved
    andi. %r5, %r4, MSR_FP
    bne hal_load_floating_on
    ori %r4, %r4, MSR_FP
    mtmsrd %r4, 0
    .globl hal_load_floating_on
hal_load_floating_on:
    lfd %f0, {FPSCR}(%r3)
    mtfsf 0xFF, %f0, 1, 0               # L=1: all 64 bits
    each_register lfd
    blr
    .size hal_load_floating, . - hal_load_floating
