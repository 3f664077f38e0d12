# threads.S: a hardware thread's first instructions under OPAL.
#
# At entry:  MSR = SF|HV, big-endian, translation off; no register is known. One thread at a time comes here: its number is in
#            rt_next_thread.
# At exit:   little-endian, machine checks on: rt_thread(number), on a stack of its own.

    .text
    .globl rt_thread_entry
    .type rt_thread_entry, @function
rt_thread_entry:
    to_native
    mfmsr %r11
    ori %r11, %r11, {ME} | {RI}
    mtmsrd %r11
    load_toc
    addis %r3, %r2, rt_next_thread@toc@ha
    ld %r3, rt_next_thread@toc@l(%r3)
    sldi %r4, %r3, {STACK_LOG2}
    addis %r1, %r2, rt_thread_stacks@toc@ha
    addi %r1, %r1, rt_thread_stacks@toc@l
    add %r1, %r1, %r4                   # the first of these threads has number 1, and its stack ends there
    li %r0, 0
    stdu %r0, -64(%r1)
    bl rt_thread
    nop
    trap
    .size rt_thread_entry, . - rt_thread_entry

    .section .bss.stacks, "aw", @nobits
    .balign 4096
rt_thread_stacks:
    .space {OTHERS} << {STACK_LOG2}
    .space 0x100                        # callees may store to their caller's header
