# exit_ladder.S: the registers that KVM switched on a POWER9 guest's entry and exit, and one published step
# of the optimisation of 2021 after another (`docs/facts/kvm-exit.md#exit-ladder`).
#
# exit_ladder_0 accesses what KVM switched before (`docs/facts/kvm-exit.md#registers-of-an-exit`), in the order of the
# code of that time; each further case adds one step of the ladder. There is no C code in it: what counts is what
# each step saves. Steps that rewrote C or changed how often something is done are not here. Values are written back
# as they are read, so that nothing changes but time; VMX and VSX registers are left out.
#
# Where time is real: if the low 24 bits of TB carry between an mftb and the write of TBU40 with its value, the
# write sets TB back by 2^24 ticks, and the case prints their difference as a huge unsigned number. KVM checks
# for that carry, the cases do not: such a figure is this race and no measurement, and the run must be repeated.
# QEMU has shown it.

    .set TBU40, 286
    .set DEC, 22
    .set HDEC, 310
    .set PURR, 309
    .set SPURR, 308
    .set VTB, 849
    .set IC, 848
    .set DPDES, 176
    .set PCR, 338
    .set CIABR, 187
    .set DAWR, 180
    .set DAWRX, 188
    .set HFSCR, 190
    .set PSSCR, 855
    .set LPIDR, 319
    .set PID, 48
    .set WORT, 895
    .set TIDR, 144
    .set IAMR, 61
    .set AMR, 29
    .set UAMOR, 157
    .set PSPB, 159
    .set FSCR, 153
    .set DSCR, 17
    .set TAR, 815
    .set DAR, 19
    .set DSISR, 18
    .set CTRL_READ, 136
    .set CTRL_WRITE, 152
    .set VRSAVE, 256
    .set EBBHR, 804
    .set EBBRR, 805
    .set BESCR, 806
    .set TFHAR, 128
    .set TFIAR, 129
    .set TEXASR, 130
    .set SPRG1, 273
    .set SPRG2, 274
    .set SPRG3, 275

    # The steps, in the order in which they were published.
    .set NO_WORT, 1
    .set FEWER_MFTB, 2
    .set CONSTANT_AMOR, 3
    .set NO_FORCED_PMU, 4
    .set PMU_ON_DEMAND, 5
    .set ONE_MTMSRD, 6
    .set ONE_TIME_BASE, 7
    .set GROUPED, 8
    .set CONDITIONAL, 9
    .set NO_CANARY, 10
    .set FEWER_WRITES, 11
    .set EBB_TM_ON_DEMAND, 12
    .set CONTEXT_ONCE, 13
    .set NO_PSSCR, 14
    .set NO_TLBSYNC, 15

    # r10 is the vCPU's area, r11 the host's: a register lies at its number.
    .macro keep spr, area=%r10
    mfspr %r5, \spr
    std %r5, (\spr) * 8(\area)
    .endm
    .macro put spr, area=%r10
    ld %r5, (\spr) * 8(\area)
    mtspr \spr, %r5
    .endm
    # Written only where guest and host differ, which they do not here.
    .macro put_if_other spr
    ld %r5, (\spr) * 8(%r10)
    ld %r7, (\spr) * 8(%r11)
    cmpd %r5, %r7
    beq 5f
    mtspr \spr, %r5
5:
    .endm
    .macro each operation, sprs:vararg
    .irp spr, \sprs
    \operation \spr
    .endr
    .endm
    .macro each2 operation, area, sprs:vararg
    .irp spr, \sprs
    \operation \spr, \area
    .endr
    .endm
    # What may be left alone from step \from on.
    .macro put_until step, from, sprs:vararg
    .if \step < \from
    each put, \sprs
    .endif
    .endm
    .macro keep_until step, from, sprs:vararg
    .if \step < \from
    each keep, \sprs
    .endif
    .endm
    .macro put_or_compare step, sprs:vararg
    .if \step < CONDITIONAL
    each put, \sprs
    .else
    each put_if_other, \sprs
    .endif
    .endm
    .macro time_until step, from
    .if \step < \from
    mftb %r6
    .endif
    .endm
    .macro isync_until step, from
    .if \step < \from
    isync
    .endif
    .endm

    .section .cases, "ax"
ladder_values:
    li %r7, 0
    .irp spr, 17, 18, 19, 22, 26, 27, 29, 48, 61, 128, 129, 130, 136, 144, 153, 157, 159, 176, 180, 187, 188, 190
    keep \spr
    keep \spr, %r11
    .endr
    .irp spr, 256, 272, 273, 274, 275, 308, 309, 310, 314, 315, 318, 319, 349, 338, 784, 785, 786, 787, 788, 789
    keep \spr
    keep \spr, %r11
    .endr
    .irp spr, 790, 791, 792, 795, 796, 797, 798, 804, 805, 806, 815, 848, 849, 855, 895
    keep \spr
    keep \spr, %r11
    .endr
    blr

    .macro ladder step
    case exit_ladder_\step, 400, 1
    load_constant %r10, SCRATCH
    addi %r11, %r10, 0x2000
    mfmsr %r9
    lis %r5, 1                          # MSR[TM], for the registers of transactions
    sldi %r5, %r5, 16
    or %r9, %r9, %r5
    mtmsrd %r9
    bl ladder_values
    measured

    # Entry. Time: for what was stolen, for the dispatch log and for the guest's entry; or once for all.
    time_until \step, ONE_TIME_BASE
    time_until \step, ONE_TIME_BASE
    mftb %r6
    # The time limit, the decrementers, the host's performance monitor.
    keep DEC, %r11
    .if \step < PMU_ON_DEMAND
    .irp spr, 795, 798, 785, 786, 796, 797, 784, 787, 788, 789, 790, 791, 792
    keep \spr, %r11
    .endr
    isync
    each put, 787, 788, 789, 790, 791, 792, 798, 785, 797, 796, 784, 786, 795
    isync
    .endif
    .if \step < ONE_MTMSRD
    mtmsrd %r9
    mtmsrd %r9
    mtmsrd %r9
    .else
    mtmsrd %r9
    .endif
    # The guest's operating-system registers.
    put_until \step, EBB_TM_ON_DEMAND, TFHAR, TFIAR, TEXASR
    put_or_compare \step, DSCR, IAMR, PSPB, FSCR
    put TAR
    put_until \step, EBB_TM_ON_DEMAND, EBBHR, EBBRR, BESCR
    put_until \step, NO_WORT, WORT
    put TIDR
    put_or_compare \step, AMR, UAMOR
    put_until \step, CONSTANT_AMOR, AMOR
    keep CTRL_READ, %r11
    put VRSAVE
    time_until \step, FEWER_MFTB         # for the guest's decrementer
    # What the hypervisor gives the guest, behind what the host has.
    mfmsr %r8
    .if \step < GROUPED
    each2 keep, %r11, HFSCR, CIABR, DAWR, DAWRX, PSSCR, PID
    .else
    each2 keep, %r11, HFSCR, CIABR, PSSCR, PID, PURR, SPURR
    .endif
    time_until \step, ONE_TIME_BASE      # for the time limit
    time_until \step, FEWER_MFTB         # for the guest's time base
    mtspr TBU40, %r6
    mftb %r6                            # to see a carry into the upper 40 bits
    put_until \step, FEWER_WRITES, PCR, DPDES
    put VTB
    .if \step < GROUPED
    each2 keep, %r11, PURR, SPURR
    .endif
    each put, PURR, SPURR
    put_until \step, FEWER_WRITES, DAWR, DAWRX, CIABR, IC
    put_until \step, NO_PSSCR, PSSCR
    put HFSCR
    put HSRR0
    put HSRR1
    .if \step < NO_CANARY
    li %r5, 0x7FFF
    mtspr HDSISR, %r5
    .endif
    each put, SPRG0, SPRG1, SPRG2, SPRG3
    .if \step >= CONTEXT_ONCE
    sync
    .endif
    isync
    put LPIDR
    isync_until \step, CONTEXT_ONCE
    put LPCR
    isync_until \step, CONTEXT_ONCE
    put PID
    isync_until \step, CONTEXT_ONCE
    put HDEC
    put DEC
    each put, DAR, DSISR, SRR0, SRR1
    address_of %r5, 6f
    mtspr HSRR0, %r5
    mtspr HSRR1, %r9
    hrfid
6:
    # Exit. What the guest may have changed.
    each keep, SRR0, SRR1, DAR, DSISR
    .if \step < GROUPED
    each keep, PURR, SPURR
    each2 put, %r11, PURR, SPURR
    keep IC
    keep PID
    keep PSSCR
    each keep, SPRG0, SPRG1, SPRG2, SPRG3
    put PSSCR, %r11
    put HFSCR, %r11
    put CIABR, %r11
    put DAWR, %r11
    put DAWRX, %r11
    keep DPDES
    keep VTB
    .else
    each keep, PURR, SPURR, IC, PID, PSSCR, SPRG0, SPRG1, SPRG2, SPRG3, DPDES, VTB
    put PURR, %r11
    put SPURR, %r11
    .if \step < NO_PSSCR
    put PSSCR, %r11
    .endif
    put HFSCR, %r11
    .if \step < FEWER_WRITES
    put CIABR, %r11
    put DAWR, %r11
    put DAWRX, %r11
    .endif
    .endif
    .if \step < FEWER_WRITES
    li %r5, 0
    mtspr DPDES, %r5
    put PCR, %r11
    .endif
    mtspr TBU40, %r6
    mftb %r6
    .rept 4
    slbmte %r7, %r7
    .endr
    .if \step >= CONTEXT_ONCE
    sync
    .endif
    isync
    put PID, %r11
    isync_until \step, CONTEXT_ONCE
    put LPIDR, %r11
    isync_until \step, CONTEXT_ONCE
    put LPCR, %r11
    isync_until \step, CONTEXT_ONCE
    put HDEC, %r11
    mtmsrd %r9
    # The guest's operating-system registers, and the host's.
    keep DEC
    time_until \step, FEWER_MFTB
    keep TAR
    keep_until \step, NO_WORT, WORT
    each keep, TIDR, IAMR, AMR, UAMOR, FSCR, DSCR, PSPB
    keep_until \step, EBB_TM_ON_DEMAND, EBBHR, EBBRR, BESCR
    keep CTRL_READ
    ld %r5, CTRL_READ * 8(%r11)
    mtspr CTRL_WRITE, %r5
    put_or_compare \step, PSPB, UAMOR, DSCR, IAMR, AMR, FSCR
    put TIDR, %r11
    put_until \step, NO_WORT, WORT
    put SPRG3, %r11
    keep VRSAVE
    keep_until \step, EBB_TM_ON_DEMAND, TFHAR, TFIAR, TEXASR
    .if \step < NO_FORCED_PMU
    each keep, 795, 786
    isync
    each keep, 798, 785, 796, 797, 784, 787, 788, 789, 790, 791, 792
    .endif
    .if \step < PMU_ON_DEMAND
    .irp spr, 787, 788, 789, 790, 791, 792, 798, 785, 797, 796, 784, 786, 795
    put \spr, %r11
    .endr
    isync
    .endif
    put DEC, %r11
    time_until \step, ONE_TIME_BASE     # the vCPU is no longer runnable
    .if \step < NO_TLBSYNC
    eieio
    tlbsync
    ptesync
    .endif
    end_case
    .endm

    .irp step, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15
    ladder \step
    .endr
