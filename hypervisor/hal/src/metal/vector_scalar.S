# vector_scalar.S: hal_save_vectors(record) and hal_load_vectors(record); the same with _on
# behind their names where MSR[FP], MSR[VEC] and MSR[VSX] are set already, which leave FPSCR alone.
#
# The hypervisor has no vectors: MSR[FP], MSR[VEC] and MSR[VSX] are set here and in floating.S alone, and stay until the next guest
# is entered. VSR0-31 are saved whole, doubleword 0 of which is a floating-point register: who has vectors does not need floating.S, which
# would lose doubleword 1. The moves are the processor's: power9.S, power8.S.

    .set MSR_VEC_VSX, 0x0280            # in the high half of a word
    .set MSR_FP, 0x2000

    .text
.macro vectors_on
    mfmsr %r5                           # a write is dearer, and another vCPU's registers may just have been saved
    andis. %r6, %r5, MSR_VEC_VSX
    bne .Lon\@
    oris %r5, %r5, MSR_VEC_VSX
    ori %r5, %r5, MSR_FP
    mtmsrd %r5, 0
.Lon\@:
.endm

.macro save_all
    each_vector store_vector
    mfvscr 0
    store_vector 32, {VSCR}
.endm

.macro load_all
    load_vector 32, {VSCR}
    mtvscr 0
    each_vector load_vector
.endm

.macro each_vector move
    .set index, 0
    .rept 64
    \move index, {VSR} + 16*index
    .set index, index + 1
    .endr
.endm

    .globl hal_save_vectors
    .type hal_save_vectors, @function
hal_save_vectors:                       # the vCPU may go on here: nothing is lost on the way
    vectors_on
    save_all
    mffs %f0
    stfd %f0, {FPSCR}(%r3)
    load_vector 0, {VSR}
    load_vector 32, {VSR} + 16*32
    blr
    .size hal_save_vectors, . - hal_save_vectors

    .globl hal_save_vectors_on
    .type hal_save_vectors_on, @function
hal_save_vectors_on:
    save_all
    blr
    .size hal_save_vectors_on, . - hal_save_vectors_on

    .globl hal_load_vectors
    .type hal_load_vectors, @function
hal_load_vectors:
    vectors_on
    lfd %f0, {FPSCR}(%r3)
    mtfsf 0xFF, %f0, 1, 0               # L=1: all 64 bits
    load_all
    blr
    .size hal_load_vectors, . - hal_load_vectors

    .globl hal_load_vectors_on
    .type hal_load_vectors_on, @function
hal_load_vectors_on:
    load_all
    blr
    .size hal_load_vectors_on, . - hal_load_vectors_on
