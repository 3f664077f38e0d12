# vectors.S: rt_vectors_fill(value) and rt_vectors_changed(value), by instructions of ISA 2.07. VSR0 is lost.

    .text
# VSR32-63 and both halves of each: as many values as halves, made of r3, with its upper bits, which may say whose they are.
.macro next_value
    addi %r3, %r3, 0x5EC1
.endm

    .globl rt_vectors_fill
    .type rt_vectors_fill, @function
rt_vectors_fill:
    .set index, 32
    .rept 32
    next_value
    mr %r4, %r3
    next_value
    mtvsrd index, %r4
    mtvsrd 0, %r3
    xxpermdi index, index, 0, 0
    .set index, index + 1
    .endr
    blr
    .size rt_vectors_fill, . - rt_vectors_fill

    .globl rt_vectors_changed
    .type rt_vectors_changed, @function
rt_vectors_changed:                     # to r3: bits that are not as they were filled, in any half
    li %r5, 0
    .set index, 32
    .rept 32
    next_value
    mfvsrd %r4, index
    xor %r4, %r4, %r3
    or %r5, %r5, %r4
    next_value
    xxpermdi 0, index, index, 2
    mfvsrd %r4, 0
    xor %r4, %r4, %r3
    or %r5, %r5, %r4
    .set index, index + 1
    .endr
    mr %r3, %r5
    blr
    .size rt_vectors_changed, . - rt_vectors_changed
