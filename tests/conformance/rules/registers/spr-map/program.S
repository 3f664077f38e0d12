#include "prologue.inc"
#include "radix.inc"

# Four maps of 1024 characters: reading and writing in a partition's kernel, then in problem state. A number is
#   r  read         n  read, and nothing was      w  written, or nothing was
#   P  privileged   I  illegal                    A  emulation assistance
#   F  facility unavailable                       H  the hypervisor's facility unavailable
#   ?  anything else  .  not tried: SPRG3 says where this program's interrupts go on
# What is written is what was read before, or 0.

.set MFSPR, 0x7d4002a6      # mfspr r10, 0
.set MTSPR, 0x7d4003a6
.set MARK, 0x5555555555555555
.set KERNEL, GUEST_REAL | MSR_TM
.set PROBLEM, GUEST_ON | MSR_PR | MSR_EE | MSR_TM

    .balign 8
line:   .space  64
        .ascii  "\n"
    .balign 8
site:   nop
    sc      1

# r30: the character of what the partition did.
classify:
    li      30, '?'
    cmpdi   6, 0xc00
    beq     completed
    cmpdi   6, 0x700
    beq     program
    cmpdi   6, 0xe40
    li      30, 'A'
    beqlr
    cmpdi   6, 0xf60
    li      30, 'F'
    beqlr
    cmpdi   6, 0xf80
    li      30, 'H'
    beqlr
    li      30, '?'
    blr
completed:
    li      30, 'w'
    cmpdi   29, 0
    bnelr
    li      30, 'r'
    SET     26, MARK
    cmpd    10, 26
    bnelr
    li      30, 'n'
    blr
program:
    andis.  8, 8, 0xc
    cmpdi   8, 0
    li      30, '?'
    beqlr
    andis.  8, 8, 4
    li      30, 'P'
    bnelr
    li      30, 'I'
    blr

# Puts `opcode` with the number r31 at `site`: its halves change places in the word.
.macro PLACE opcode
    andi.   3, 31, 0x1f
    sldi    3, 3, 5
    srdi    4, 31, 5
    or      3, 3, 4
    sldi    3, 3, 11
    SET     4, \opcode
    or      3, 3, 4
    ADDRESS 4, site
    stw     3, 0(4)
    dcbst   0, 4
    sync
    icbi    0, 4
    sync
    isync
.endm

# The partition executes `site` with `msr`; r6 and r8 are the interrupt and SRR1, r30 the character.
.macro TRY msr
    ON_INTERRUPT .Lend\@
    RETURN_TO site, \msr
.Lend\@:
    mr      6, 20
    mr      8, 22
    mfmsr   26
    rldicl. 26, 26, 4, 63
    bne     .Lhost\@
    ON_INTERRUPT .Lhost\@
    sc      1
.Lhost\@:
    bl      classify
.endm

# A map of `access` (0 reading, 1 writing) with `msr`, in lines of 64.
.macro MAP access, msr
    li      31, 0
.Lnumber\@:
    PLACE   MFSPR
    li      29, 0
    SET     10, MARK
    TRY     \msr
    .if \access
    li      30, '.'
    cmpdi   31, 275
    beq     .Ldone\@
    SET     26, MARK
    cmpd    10, 26
    bne     .Lknown\@
    li      10, 0
.Lknown\@:
    PLACE   MTSPR
    li      29, 1
    TRY     \msr
.Ldone\@:
    .endif
    ADDRESS 3, line
    andi.   4, 31, 63
    stbx    30, 3, 4
    cmpdi   4, 63
    bne     .Lnext\@
    bl      print_line
.Lnext\@:
    addi    31, 31, 1
    cmpdi   31, 1024
    blt     .Lnumber\@
.endm

# Prints `line` and lets the firmware send it.
print_line:
    mflr    27
    li      3, 0
    ADDRESS 4, length_cell
    li      5, 65
    std     5, 0(4)
    ADDRESS 5, line
    li      0, CONSOLE_WRITE
    bl      opal_call
    li      24, 16
1:  li      3, 0
    li      0, POLL_EVENTS
    bl      opal_call
    addi    24, 24, -1
    cmpdi   24, 0
    bgt     1b
    SET_SPR DEC, 0x7fffffff
    mtlr    27
    blr

main:
    bl      setup_radix
    # Every facility is there, and PMCC=2 gives problem state the performance monitor.
    SET_SPR HFSCR, 0x7bf
    SET_SPR FSCR, 0x1184
    SET_SPR 795, 0x80080000
    MAP     0, KERNEL
    MAP     1, KERNEL
    MAP     0, PROBLEM
    MAP     1, PROBLEM
    PASS
