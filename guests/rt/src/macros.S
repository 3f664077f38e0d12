# macros.S: what both entries and the interrupts begin with.

.macro to_native
    tdi 0, 0, 0x48                      # big-endian: a branch to the third word
    b 1f
    .long 0xa600407d                    # mfmsr r10
    .long 0x01004a69                    # xori r10, r10, 1
    .long 0xa6035b7d                    # mtspr SRR1, r10
    .long 0x05009f42                    # bcl 20, 31, +4
    .long 0xa602687d                    # mflr r11
    .long 0x10006b39                    # addi r11, r11, 16
    .long 0xa6037a7d                    # mtspr SRR0, r11
    .long 0x2400004c                    # rfid
1:
.endm

.macro load_toc
    bcl 20, 31, 2f
2:  mflr %r5
    addis %r2, %r5, (.TOC. - 2b)@ha
    addi %r2, %r2, (.TOC. - 2b)@l
.endm
