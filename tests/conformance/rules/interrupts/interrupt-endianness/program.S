#include "prologue.inc"
#include "radix.inc"

.set HILE, 1 << (63 - 4)
.set HID0, 1008

# Copies the words from `first` to `last` to the vector r4.
.macro PLACE_AT vector, first, last
    li      4, \vector - 4
    ADDRESS 3, \first - 4
    li      5, (\last - \first) / 4
    mtctr   5
1:  lwzu    6, 4(3)
    stwu    6, 4(4)
    bdnz    1b
    li      4, \vector
    dcbst   0, 4
    sync
    icbi    0, 4
    isync
.endm

main:
    bl      setup_radix
    PLACE_AT 0x700, guests_door, guests_door_end
    PLACE_AT 0xe40, hosts_door, hosts_door_end
    # ILE=0, then 1, from a big-endian partition: where its door's call came from says how it was read.
    IN_GUEST trapping, GUEST_REAL
    CHECK   1, 20, 0xc00
    CHECK   2, 21, 0x708
    CHECK   3, 22, GUEST_REAL
    SET_SPR LPCR, LPCR_RADIX | LPCR_ILE
    IN_GUEST trapping, GUEST_REAL
    CHECK   4, 20, 0xc00
    CHECK   5, 21, 0x70c
    CHECK   6, 22, GUEST_REAL | MSR_LE
    # ILE says nothing of the hypervisor.
    mfmsr   10
    CHECK   7, 10, MSR_SF | MSR_HV | MSR_ME
    # HILE does, by the door at 0xe40: r10 gets the MSR there, and r11 and r12 lead back to big-endian mode.
    mfspr   13, HID0
    SET     14, HILE
    or      14, 13, 14
    SET     12, MSR_SF | MSR_HV | MSR_ME
    ADDRESS 11, big
    li      10, 0
    RETURN_TO nothing, GUEST_REAL
big:
    CHECK   8, 10, MSR_SF | MSR_HV | MSR_ME
    ADDRESS 11, little
    sync
    mtspr   HID0, 14
    isync
    li      10, 0
    RETURN_TO nothing, GUEST_REAL
little:
    mtspr   HID0, 13
    isync
    CHECK   9, 10, MSR_SF | MSR_HV | MSR_ME | MSR_LE
    PASS

# The first word does nothing in big-endian mode, and branches over the second in little-endian mode.
guests_door:
    .long   0x08000048
    sc      1
    .long   0x22000044      # sc 1
guests_door_end:

hosts_door:
    .long   0x08000048
    b       hosts_door_big
    .long   0xa600407d      # mfmsr r10
    .long   0xa64b7a7d      # mtspr HSRR0, r11
    .long   0xa64b9b7d      # mtspr HSRR1, r12
    .long   0x2402004c      # hrfid
hosts_door_big:
    mfmsr   10
    mtspr   HSRR0, 11
    mtspr   HSRR1, 12
    hrfid
hosts_door_end:

trapping:
    trap
nothing:
    .long   0
