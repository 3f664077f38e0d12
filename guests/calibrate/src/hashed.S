# hashed.S: what a translation by a hashed page table costs (ISA 2.07: SDR1, and segments of 1 TiB).
#
# Switches translation on and leaves it on, so these cases come last. The first segment has the first GiB as it is, in
# pages of 16 MiB; three more show memory from SCRATCH on by pages of 64 KiB, 4 KiB and 16 MiB. A page has its place in
# the primary group of its hash, one for each segment, so that none is ever in another's way.

    .set SDR1, 25
    .set HASHED, 0x03000000
    .set GROUPS_LOG2, 16                # 8 MiB
    .set SEGMENT_64K, 1
    .set SEGMENT_4K, 2
    .set SEGMENT_16M, 3
    .set SHOWN, 256 << 20               # bytes of memory that each of these shows

    # `count` pages of segment and VSID `segment` from real address `real` on, at place `segment` of their groups.
    .macro map_hashed segment, page_log2, count, real, is_large, size_code
    li %r6, 0
    load_constant %r7, \count
    mtctr %r7
1:  xori %r8, %r6, \segment             # the group: a small VSID, and the page
    clrlsldi %r8, %r8, 64 - GROUPS_LOG2, 7
    addis %r8, %r8, HASHED >> 16
    addi %r8, %r8, 16 * \segment
    li %r9, \segment                    # the virtual address without its low 23 bits, segments of 1 TiB, valid
    sldi %r9, %r9, 40
    sldi %r10, %r6, \page_log2
    or %r9, %r9, %r10
    srdi %r9, %r9, 23
    sldi %r9, %r9, 7
    li %r11, 1
    sldi %r11, %r11, 62
    or %r9, %r9, %r11
    ori %r9, %r9, \is_large << 2 | 1
    addis %r10, %r10, \real >> 16       # R, C, coherent, everybody may write
    ori %r10, %r10, \size_code << 12 | 0x192
    li %r11, 8
    stdbrx %r10, %r11, %r8
    stdbrx %r9, 0, %r8
    addi %r6, %r6, 1
    bdnz 1b
    .endm

    # The entry of a segment of 1 TiB, at its number in the SLB.
    .macro map_segment segment, size
    li %r6, 1
    sldi %r6, %r6, 62
    li %r7, \segment
    sldi %r8, %r7, 24
    or %r6, %r6, %r8
    ori %r6, %r6, \size
    sldi %r7, %r7, 40
    oris %r7, %r7, 0x0800
    ori %r7, %r7, \segment
    slbmte %r6, %r7
    .endm

    .section .cases, "ax"
hashed_on:
    mfspr %r3, SDR1
    cmpdi %r3, 0
    bnelr
    load_constant %r3, HASHED           # empty, which memory was not
    load_constant %r6, 1 << (GROUPS_LOG2 + 4)
    mtctr %r6
    li %r7, 0
    addi %r3, %r3, -8
1:  stdu %r7, 8(%r3)
    bdnz 1b
    map_hashed 0, 24, 64, 0, 1, 0
    map_hashed SEGMENT_64K, 16, SHOWN >> 16, SCRATCH, 1, 1
    map_hashed SEGMENT_4K, 12, SHOWN >> 12, SCRATCH, 0, 0
    map_hashed SEGMENT_16M, 24, SHOWN >> 24, SCRATCH, 1, 0
    ptesync
    load_constant %r3, HASHED + GROUPS_LOG2 - 11
    mtspr SDR1, %r3
    li %r3, 0
    mtspr 319, %r3                      # LPIDR
    isync
    slbia
    map_segment 0, 0x100
    map_segment SEGMENT_64K, 0x110
    map_segment SEGMENT_4K, 0
    map_segment SEGMENT_16M, 0x100
    isync
    mfmsr %r3
    ori %r3, %r3, 0x30                  # IR and DR
    mtmsrd %r3
    isync
    blr

    .macro hashed_chase name, log2, count
    case \name, 400, 16
    bl hashed_on
    li %r3, SEGMENT_64K
    sldi %r3, %r3, 40
    chase_lines \log2, \count
    .endm

    hashed_chase hashed_64k_32, 5, 32
    hashed_chase hashed_64k_192, 8, 192

    # Random updates of 256 MiB, as RandomAccess makes them.
    .macro updates name, segment
    case \name, 4000, 16
    bl hashed_on
    li %r3, \segment
    sldi %r3, %r3, 40
    load_constant %r4, 1664525
    load_constant %r5, 1013904223
    li %r6, 1
    measured
    .rept 16
    mulld %r6, %r6, %r4
    add %r6, %r6, %r5
    rldicl %r7, %r6, 47, 36             # an offset below 2^28
    clrrdi %r7, %r7, 3
    ldx %r8, %r3, %r7
    xor %r8, %r8, %r6
    stdx %r8, %r3, %r7
    .endr
    end_case
    .endm

    updates updates_4k, SEGMENT_4K
    updates updates_16m, SEGMENT_16M
