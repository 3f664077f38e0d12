//! The classes of the instructions of `arch/src/instruction/table/system.rs`.

use arch::instruction::Word;

use crate::pipeline::class::Class;

macro_rules! system {
    ($next:ident $($more:ident)* => $($rows:tt)*) => { $next! { $($more)* => $($rows)*

    StoreLine: Dcbz;
    Touch: Dcbt Icbt;
    TouchForStore: Dcbtst;
    FlushLine: Dcbf;
    MsrRead: Mfmsr;
    Isync: Isync;
    Eieio: Eieio;
    Tlbsync: Tlbsync;
    Tlbie: Tlbie;
    Tlbiel: Tlbiel;
    Segment: Slbie Slbieg Slbia Slbiag Slbmte Slbmfev Slbmfee Slbfee Slbsync;
    Management: Dcbst Icbi Clrbhrb Mfbhrbe Tbegin Tend Tcheck Tsr Tabort Tabortwc Tabortdc
        Tabortwci Tabortdci Treclaim Trechkpt Msgsnd Msgclr Msgsndp Msgclrp Msgsync Logmpp;
    Return: Rfid Hrfid Rfscv;
    ChargedLater: Wait Stop Doze Nap Sleep Rvwinkle;
    // POWER9 ignores data streams.
    Nothing: Dst Dstt Dstst Dststt Dss Dssall;
    TimeBaseRead: Mftb;
    (system::sync): Sync;
    (system::msr_write): Mtmsr Mtmsrd;

    }};
}

pub(super) fn sync(word: Word) -> Class {
    match word.l_sync() {
        0 => Class::Hwsync,
        1 => Class::Lwsync,
        _ => Class::Ptesync,
    }
}

pub(super) fn msr_write(word: Word) -> Class {
    if word.l_mtmsr() == 1 { Class::MsrEnable } else { Class::MsrWrite }
}
