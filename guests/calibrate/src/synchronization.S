# synchronization.S: barriers and reservations.

    .macro barrier_case name, barrier:vararg
    case \name, 1000, 16
    load_constant %r3, SCRATCH
    measured
    .rept 16
    \barrier
    .endr
    end_case
    .endm

    barrier_case barrier_lwsync, lwsync
    barrier_case barrier_hwsync, sync
    barrier_case barrier_eieio, eieio
    barrier_case barrier_isync, isync

    # The increment of memory.S, atomically.
    case atomic_increment, 4000, 1
    load_constant %r3, SCRATCH
    measured
1:  ldarx %r4, 0, %r3
    addi %r4, %r4, 1
    stdcx. %r4, 0, %r3
    bne- 1b
    end_case

    # The same as a lock is taken and given back.
    case ordered_increment, 4000, 1
    load_constant %r3, SCRATCH
    measured
    lwsync
1:  ldarx %r4, 0, %r3
    addi %r4, %r4, 1
    stdcx. %r4, 0, %r3
    bne- 1b
    isync
    end_case

    # What ends an invalidation, with none under way.
    case invalidation_wait, 1000, 1
    measured
    eieio
    tlbsync
    ptesync
    end_case
