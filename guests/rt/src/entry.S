# entry.S: a payload's first instructions on each vCPU.
#
# At entry (PAPR): r3 = device tree, big-endian, translation off, guest real addresses.

    .section .entry, "ax"
    .globl rt_entry
    .type rt_entry, @function
rt_entry:
    to_native
    load_toc
    addis %r1, %r2, rt_stack_top@toc@ha
    addi %r1, %r1, rt_stack_top@toc@l
    li %r0, 0
    stdu %r0, -64(%r1)
    bl rt_start
    nop
    trap
    .size rt_entry, . - rt_entry

# Another vCPU, from RTAS start-cpu: r3 = its number, by which it finds its stack.
    .globl rt_secondary_entry
    .type rt_secondary_entry, @function
rt_secondary_entry:
    to_native
    load_toc
    addis %r1, %r2, rt_secondary_stacks@toc@ha
    addi %r1, %r1, rt_secondary_stacks@toc@l
    sldi %r4, %r3, {STACK_LOG2}         # number 1 has the first: its top is one stack further
    add %r1, %r1, %r4
    li %r0, 0
    stdu %r0, -64(%r1)
    bl rt_secondary_start
    nop
    trap
    .size rt_secondary_entry, . - rt_secondary_entry

    .section .bss.stacks, "aw", @nobits
    .balign 4096
    .space 0x8000
rt_stack_top:
    .space 0x100
    .balign 4096
rt_secondary_stacks:
    .space {SECONDARIES} << {STACK_LOG2}
    .space 0x100
