# translation.S: what a translation costs that the ERAT, or the TLB, does not have.
#
# Switches translation on and leaves it on, so these cases come last. Radix, LPID 0 and PID 0: the first
# GiB is mapped as it is by 2 MiB pages, and WINDOW shows SCRATCH by 64 KiB pages.

    .set PTCR, 464
    .set PIDR, 48
    .set ROOT, 0x03000000
    .set UPPER, 0x03010000
    .set FIRST_GIB, 0x03020000
    .set SECOND_GIB, 0x03030000
    .set PAGES, 0x03040000
    .set PROCESS_TABLE, 0x03060000
    .set PARTITION_TABLE, 0x03070000
    .set WINDOW, 0x40000000
    .set WINDOW_PAGES_LOG2, 12
    .set LEAF_BITS, 0x18F               # R, C and every right

    # Returns where there are tables already; r4 = a valid entry, r5 = a valid leaf.
    .macro begin_tables
    mfspr %r3, PTCR
    cmpdi %r3, 0
    bnelr
    li %r4, 1
    sldi %r4, %r4, 63                   # valid
    srdi %r5, %r4, 1                    # leaf
    or %r5, %r5, %r4
    .endm

    .macro store_entry table, value
    stdbrx \value, 0, \table
    addi \table, \table, 8
    .endm

    .macro page_chase name, log2, count
    case \name, 400, 16
    bl translation_on
    load_constant %r3, WINDOW
    chase_lines \log2, \count
    .endm

    line_chase lines_32, 5, 32
    line_chase lines_384, 9, 384
    line_chase lines_2048, 11, 2048

    .section .cases, "ax"
translation_on:
    begin_tables
    load_constant %r6, FIRST_GIB        # 512 leaves of 2 MiB
    ori %r7, %r5, LEAF_BITS
    lis %r8, 0x20
    li %r9, 512
    mtctr %r9
1:  store_entry %r6, %r7
    add %r7, %r7, %r8
    bdnz 1b
    load_constant %r6, SECOND_GIB       # a table of 32 leaves for each 2 MiB of the window
    load_constant %r7, PAGES + 5
    or %r7, %r7, %r4
    li %r9, 1 << (WINDOW_PAGES_LOG2 - 5)
    mtctr %r9
1:  store_entry %r6, %r7
    addi %r7, %r7, 256
    bdnz 1b
    load_constant %r6, PAGES
    load_constant %r7, SCRATCH | LEAF_BITS
    or %r7, %r7, %r5
    lis %r8, 1
    li %r9, 1 << WINDOW_PAGES_LOG2
    mtctr %r9
1:  store_entry %r6, %r7
    add %r7, %r7, %r8
    bdnz 1b
    load_constant %r6, UPPER
    load_constant %r7, FIRST_GIB + 9
    or %r7, %r7, %r4
    store_entry %r6, %r7
    load_constant %r7, SECOND_GIB + 9
    or %r7, %r7, %r4
    store_entry %r6, %r7
    load_constant %r6, ROOT
    load_constant %r7, UPPER + 9
    or %r7, %r7, %r4
    store_entry %r6, %r7
    load_constant %r6, PROCESS_TABLE    # 52 bits, a root of 2^13 entries
    lis %r7, 0x4000
    sldi %r7, %r7, 32
    oris %r7, %r7, ROOT >> 16
    ori %r7, %r7, 0xA0 | 13
    store_entry %r6, %r7
    load_constant %r6, PARTITION_TABLE
    or %r7, %r7, %r4                    # radix; LPID 0 is translated by its process's tree alone
    store_entry %r6, %r7
    load_constant %r7, PROCESS_TABLE
    store_entry %r6, %r7
    ptesync
    load_constant %r7, PARTITION_TABLE + 4
    mtspr PTCR, %r7
    li %r7, 0
    mtspr PIDR, %r7
    mtspr 319, %r7                      # LPIDR
    mfspr %r7, LPCR
    oris %r7, %r7, LPCR_UPRT_HR
    mtspr LPCR, %r7
    isync
    mfmsr %r7
    ori %r7, %r7, 0x30                  # IR and DR
    mtmsrd %r7
    isync
    blr

    page_chase pages_32, 5, 32
    page_chase pages_384, 9, 384
    page_chase pages_2048, 11, 2048

    # One page of PID 0, a different one each time: tlbiel r5, r6 with RIC=0, PRS=1, R=1.
    case tlbiel_page, 400, 16
    bl translation_on
    load_constant %r5, WINDOW + (5 << 5)
    lis %r7, 1
    li %r6, 0
    ptesync
    measured
    .rept 16
    .long 0x7C030224 | 6 << 21 | 5 << 11
    add %r5, %r5, %r7
    .endr
    end_case
