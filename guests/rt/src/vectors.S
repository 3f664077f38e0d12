# vectors.S: rt_vectors_fill(value) and rt_vectors_changed(value), by instructions of ISA 2.07 that need MSR[VEC] alone. The
# halves go through the 16 bytes below the stack: in little-endian the first of them is at the higher address.

    .set BELOW, -32

    .text
# VSR32-63 and both halves of each: as many values as halves, made of r3, with its upper bits, which may say whose they are.
.macro next_value
    addi %r3, %r3, 0x5EC1
.endm

    .globl rt_vectors_fill
    .type rt_vectors_fill, @function
rt_vectors_fill:
    li %r5, BELOW
    .set index, 0
    .rept 32
    next_value
    std %r3, BELOW + 8(%r1)
    next_value
    std %r3, BELOW(%r1)
    lvx index, %r1, %r5
    .set index, index + 1
    .endr
    blr
    .size rt_vectors_fill, . - rt_vectors_fill

    .globl rt_vectors_changed
    .type rt_vectors_changed, @function
rt_vectors_changed:                     # to r3: bits that are not as they were filled, in any half
    li %r5, 0
    li %r6, BELOW
    .set index, 0
    .rept 32
    stvx index, %r1, %r6
    next_value
    ld %r4, BELOW + 8(%r1)
    xor %r4, %r4, %r3
    or %r5, %r5, %r4
    next_value
    ld %r4, BELOW(%r1)
    xor %r4, %r4, %r3
    or %r5, %r5, %r4
    .set index, index + 1
    .endr
    mr %r3, %r5
    blr
    .size rt_vectors_changed, . - rt_vectors_changed
