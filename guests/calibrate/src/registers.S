# registers.S: special-purpose registers that are not renamed, and the MSR.

    .set AMOR, 349
    .set HSPRG1, 305
    .set SPRG0, 272
    .set HDSISR, 306
    .set CFAR, 28
    .set HMEER, 337

    .macro register_case name, operations, access:vararg
    case \name, 1000, \operations
    mfspr %r4, AMOR
    mfmsr %r5
    measured
    .rept \operations
    \access
    .endr
    end_case
    .endm

    register_case time_base, 16, mftb %r3
    register_case spr_read, 16, mfspr %r3, SPRG0
    register_case spr_write, 16, mtspr AMOR, %r4
    register_case cfar_read, 16, mfspr %r3, CFAR
    register_case hdsisr_write, 16, mtspr HDSISR, %r4

    # Reads among writes, and the same reads before the same writes.
    case spr_interleaved, 1000, 8
    measured
    .rept 8
    mfspr %r3, SPRG0
    mtspr HSPRG1, %r3
    .endr
    end_case

    case spr_grouped, 1000, 8
    measured
    mfspr %r3, SPRG0
    mfspr %r4, SPRG0
    mfspr %r5, SPRG0
    mfspr %r6, SPRG0
    mfspr %r7, SPRG0
    mfspr %r8, SPRG0
    mfspr %r9, SPRG0
    mfspr %r10, SPRG0
    mtspr HSPRG1, %r3
    mtspr HSPRG1, %r4
    mtspr HSPRG1, %r5
    mtspr HSPRG1, %r6
    mtspr HSPRG1, %r7
    mtspr HSPRG1, %r8
    mtspr HSPRG1, %r9
    mtspr HSPRG1, %r10
    end_case

    # MSR: EE and RI alone, all of it, and read behind a write.
    register_case mtmsrd_ri, 16, mtmsrd %r5, 1
    register_case mtmsrd_full, 16, mtmsrd %r5
    case mfmsr_behind_mtmsrd, 1000, 16
    mfmsr %r5
    measured
    .rept 16
    mtmsrd %r5, 1
    mfmsr %r5
    .endr
    end_case

    # The MMU context of a guest entry: LPIDR, LPCR and PIDR are written as they are.
    case context_switch, 1000, 1
    mfspr %r3, 319
    mfspr %r4, LPCR
    mfspr %r5, 48
    measured
    mtspr 319, %r3
    isync
    mtspr LPCR, %r4
    isync
    mtspr 48, %r5
    isync
    end_case

    # A return from interrupt to the next instruction.
    case return_from_interrupt, 1000, 1
    mfmsr %r5
    mtspr HSRR1, %r5
    address_of %r3, 1f
    mtspr HSRR0, %r3
    measured
    hrfid
1:
    end_case
