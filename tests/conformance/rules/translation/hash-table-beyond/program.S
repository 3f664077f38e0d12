#include "prologue.inc"
#include "hash.inc"

.set PLAIN, PTE_R | PTE_C | PTE_M

main:
    bl      setup_hash
    SEGMENT 0, 0x10000000, 0x123000 | BASE_4K
    ENTRY   0x123, 0x5000, 12, 0, 0, FRAME_A | PLAIN
    TABLE   29
    READS   1, 0x10005000, 0xaa
    FAIL    2
