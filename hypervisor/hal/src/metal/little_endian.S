# little_endian.S: the first macro of whatever firmware starts.

# Goes on little-endian behind it, whatever the endianness was. r10, r11, LR, HSRR0 and HSRR1 are lost.
.macro little_endian
    tdi 0, 0, 0x48                      # big-endian: a branch to the third word
    b 9f
    .long 0xa600407d                    # mfmsr r10
    .long 0x01004a69                    # xori r10, r10, 1
    .long 0xa64b5b7d                    # mtspr HSRR1, r10
    .long 0x05009f42                    # bcl 20, 31, +4
    .long 0xa602687d                    # mflr r11
    .long 0x10006b39                    # addi r11, r11, 16
    .long 0xa64b7a7d                    # mtspr HSRR0, r11
    .long 0x2402004c                    # hrfid
9:
.endm
