#include "prologue.inc"
#include "hash.inc"

.set PLAIN, PTE_R | PTE_C | PTE_M

main:
    bl      setup_hash
    SEGMENT 0, 0x10000000, 0x0000000000123000 | BASE_4K
    ENTRY   0x123, 0x9001000, 12, 0, 0, FRAME_A | PLAIN
    READS   1, 0x19001000, 0xaa
    CHANGE_FIRST 0
    # The page of 4 KiB is out of the table only.
    ENTRY   0x123, 0x9002000, 12, 0, PTE_L, FRAME_B | P64K_IN_4K | PLAIN
    INVALIDATE 0x1239001000
    STORE   FRAME_B + 0x2000, 0xb2
    READS   2, 0x19002000, 0xb2
    PASS
