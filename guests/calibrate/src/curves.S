# curves.S: what a load takes by footprint, and by the number of pages that it goes through.
#
# The lines of the page curves are the same whatever the size of a page: line i is at SCRATCH + 128 i, and page i of a
# window shows it in the place that it has in its real page. So many pages show one piece of memory, and what the
# curves differ by is translation. They switch it on and leave it on, so they come last.

    .set CURVE_PAGES, 4096
    # Tables, and the GiB in which each window begins. LEAVES_2M are eight tables of 512, one for each GiB.
    .set LEAVES_4K, 0x03080000
    .set LEAVES_64K, 0x03090000
    .set LEAVES_2M, 0x030A0000
    .set MIDDLE_4K, 0x030B0000
    .set MIDDLE_64K, 0x030C0000
    .set GIB_4K, 2
    .set GIB_64K, 3
    .set GIB_2M, 4

    # KiB, log2 of its lines, and iterations for once around and some more.
    .macro footprint kib, log2, iterations=1100
    chase footprint_\kib, \log2, 7, \iterations, ROLE_CURVES
    .endm

    footprint 8, 6
    footprint 16, 7
    footprint 32, 8
    footprint 64, 9
    footprint 128, 10
    footprint 256, 11
    footprint 512, 12
    footprint 1024, 13
    footprint 2048, 14
    footprint 4096, 15, 2050
    footprint 8192, 16, 4100
    footprint 16384, 17, 8200
    footprint 32768, 18, 16400
    footprint 65536, 19, 32800

    .macro page_counts macro_name
    .irp count, 16, 32, 48, 64, 96, 128, 192, 256, 384, 512, 768, 1024, 2048, 4096
    \macro_name \count
    .endr
    .endm

    .macro same_lines count
    case lines_packed_\count, 600, 16, ROLE_CURVES
    load_constant %r3, SCRATCH
    chase_lines 12, \count, 7
    .endm
    page_counts same_lines

    .section .cases, "ax"
    # The leaves of a window.
    .macro map_leaves leaves, page_log2
    load_constant %r6, \leaves
    li %r8, 0
    li %r9, CURVE_PAGES
    mtctr %r9
1:  sldi %r7, %r8, 7
    addis %r7, %r7, SCRATCH >> 16
    clrrdi %r7, %r7, \page_log2
    ori %r7, %r7, LEAF_BITS
    or %r7, %r7, %r5
    store_entry %r6, %r7
    addi %r8, %r8, 1
    bdnz 1b
    .endm

    # `count` entries at r6 for the tables of 2^log2 entries from `tables` on.
    .macro map_tables tables, log2, count
    load_constant %r7, \tables + \log2
    or %r7, %r7, %r4
    li %r9, \count
    mtctr %r9
1:  store_entry %r6, %r7
    addi %r7, %r7, 8 << \log2
    bdnz 1b
    .endm

windows_on:
    begin_tables
    map_leaves LEAVES_4K, 12
    map_leaves LEAVES_64K, 16
    map_leaves LEAVES_2M, 21
    load_constant %r6, MIDDLE_4K
    map_tables LEAVES_4K, 9, CURVE_PAGES >> 9
    load_constant %r6, MIDDLE_64K
    map_tables LEAVES_64K, 5, CURVE_PAGES >> 5
    load_constant %r6, UPPER + 8 * GIB_4K
    map_tables MIDDLE_4K, 9, 1
    map_tables MIDDLE_64K, 9, 1
    map_tables LEAVES_2M, 9, CURVE_PAGES >> 9
    b translation_on

    .macro windowed name, count, gib, page_log2
    case \name, 600, 16, ROLE_CURVES
    bl windows_on
    li %r3, \gib
    sldi %r3, %r3, 30
    chase_lines 12, \count, \page_log2
    .endm

    .macro pages_of_4k count
    windowed pages_4k_\count, \count, GIB_4K, 12
    .endm
    .macro pages_of_64k count
    windowed pages_64k_\count, \count, GIB_64K, 16
    .endm
    .macro pages_of_2m count
    windowed pages_2m_\count, \count, GIB_2M, 21
    .endm
    page_counts pages_of_4k
    page_counts pages_of_64k
    page_counts pages_of_2m
