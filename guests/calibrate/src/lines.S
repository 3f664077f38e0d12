# lines.S: chases through some lines of some pages, for what a translation costs.

    .macro small_or_not register, value
    .if (\value) < 0x8000
    li \register, \value
    .else
    load_constant \register, \value
    .endif
    .endm

    # Where place `index` lies, from the first one on: each in its own page, or 2^7-byte piece of memory, no two in a
    # row in the same places of the caches. Clobbers r11.
    .macro place_of register, index, page_log2
    sldi \register, \index, \page_log2
    .if \page_log2 > 7
    clrlsldi %r11, \index, 64 + 7 - \page_log2, 7
    add \register, \register, %r11
    .endif
    .endm

    # A cycle of pointers through `count` places. It goes through the numbers below 2^log2 as in memory.S and
    # passes over those from `count` on. r3 = where the first page begins.
    .macro chase_lines log2, count, page_log2=16
    cmpdi %r24, 0
    bne 4f
    load_constant %r4, 1664525
    load_constant %r5, 1013904223
    small_or_not %r6, (1 << \log2) - 1
    li %r7, 0
    small_or_not %r10, \count
    mtctr %r10
1:  mr %r8, %r7
2:  mulld %r8, %r8, %r4
    add %r8, %r8, %r5
    and %r8, %r8, %r6
    .if (\count) < 0x8000
    cmpdi %r8, \count
    .else
    cmpd %r8, %r10
    .endif
    bge 2b
    place_of %r9, %r8, \page_log2       # the next one
    add %r9, %r9, %r3
    place_of %r12, %r7, \page_log2      # this one
    stdx %r9, %r3, %r12
    mr %r7, %r8
    bdnz 1b
4:
    measured
    .rept 16
    ld %r3, 0(%r3)
    .endr
    end_case
    .endm

    .macro line_chase name, log2, count
    case \name, 400, 16
    load_constant %r3, SCRATCH
    chase_lines \log2, \count
    .endm
