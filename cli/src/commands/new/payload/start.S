# A partition starts big-endian, with relocation off and the device tree's address in r3. This sets a stack and calls main.
        .section .text.start, "ax"
        .globl  start
start:  bcl     20, 31, 1f              # the address of the next line
1:      mflr    31
        addis   1, 31, stack_end - 1b@ha
        addi    1, 1, stack_end - 1b@l
        li      0, 0
        stdu    0, -64(1)               # the last frame
        addis   2, 31, .TOC. - 1b@ha
        addi    2, 2, .TOC. - 1b@l
        bl      main
        bl      power_off
        b       .                       # not reached
