#include "prologue.inc"
#include "hash.inc"

.set PLAIN, PTE_R | PTE_C | PTE_M
.set PP0, 1 << 63
.set NO_KEY, 0x10005000
.set KEY, 0x20005000

# With this pp: what a load and a store do without the key, and with it. 0: permitted.
.macro PERMITS number, pp, load, store, keyed_load, keyed_store
    CHANGE_SECOND FRAME_A | PLAIN | \pp
    INVALIDATE_ALL
    TRIES   \number, NO_KEY, \load, \store
    TRIES   (\number + 1), KEY, \keyed_load, \keyed_store
.endm
.macro TRIES number, address, load, store
    .if \load
    LOAD_REFUSED \number, \address, \load
    .else
    READS   \number, \address, 0xaa
    .endif
    .if \store
    STORE_REFUSED \number, \address, \store
    .else
    WRITES  \address, 0xaa
    .endif
.endm
.set LOAD, 0x08000000
.set STORE, 0x0a000000

main:
    bl      setup_hash
    # The same virtual segment, with and without the key of privileged state.
    SEGMENT 0, NO_KEY, 0x123000
    SEGMENT 1, KEY, 0x123000 | KS
    ENTRY   0x123, 0x5000, 12, 0, 0, FRAME_A | PLAIN
    PERMITS 0x10, 0, 0, 0, LOAD, STORE
    PERMITS 0x20, 1, 0, 0, 0, STORE
    PERMITS 0x30, 2, 0, 0, 0, 0
    PERMITS 0x40, 3, 0, STORE, 0, STORE
    PERMITS 0x50, PP0 | 2, 0, STORE, LOAD, STORE
    PERMITS 0x60, PP0 | 0, LOAD, STORE, LOAD, STORE
    PERMITS 0x70, PP0 | 1, LOAD, STORE, LOAD, STORE
    PERMITS 0x80, PP0 | 3, LOAD, STORE, LOAD, STORE
    PASS
