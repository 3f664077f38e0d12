//! Special-purpose registers: one table of what exists, where, for whom and with what reset value.
//!
//! A row is one SPR *number*. Several numbers may name one register (TB is read as 268 and 269 and
//! written as 284 and 285), so a row also says which register it is and which part of it. What reading
//! or writing a register *does* beyond keeping its value is the machine's business, not this table's.
//!
//! Source: Power ISA 3.0B and 2.07 Book III, SPR tables; numbers and presence as in QEMU's
//! `target/ppc/cpu.h` and Linux's `reg.h` (`docs/facts/special-registers.md#numbers`); scopes from
//! `docs/facts/special-registers.md#scopes`; SPRC, SPRD and TFMR as in skiboot's `processor.h`; what a processor has
//! beyond the architecture as in `docs/facts/special-registers.md#registers-of-the-implementation`.

use crate::processor::{Processor, Processors};
use crate::registers::{ppr, tfmr};

/// Who may use one direction of an SPR number.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Access {
    /// There is no such access.
    None,
    /// Problem state and above.
    Problem,
    /// Privileged state and above.
    Privileged,
    /// Hypervisor state only.
    Hypervisor,
}

/// How many hardware threads share one register.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Scope {
    /// Each thread has its own.
    Thread,
    /// The threads of one logical partition on a core share it (POWER8: a subcore; POWER9: the core, or each thread
    /// has its own, by the mode of the processor).
    Subcore,
    /// All threads of a core share it.
    Core,
    /// All threads of a chip share it.
    Chip,
}

/// A row of the table: one SPR number.
#[derive(Clone, Copy, Debug)]
pub struct SprRow {
    /// The number in `mtspr` and `mfspr`, 0 to 1023.
    pub number: u16,
    /// The architecture's name of this number.
    pub name: &'static str,
    /// The register behind the number.
    pub spr: Spr,
    /// Who may read.
    pub read: Access,
    /// Who may write.
    pub write: Access,
    /// Who shares it.
    pub scope: Scope,
    /// Bits that the register holds; the others read as zero.
    pub width: u32,
    /// Which processors have it.
    pub presence: Processors,
}

macro_rules! sprs {
    ($($number:literal $name:ident $spr:ident $read:ident $write:ident $scope:ident $width:literal $presence:ident;)*) => {
        const ROWS: &[SprRow] = &[$(SprRow {
            number: $number,
            name: stringify!($name),
            spr: Spr::$spr,
            read: Access::$read,
            write: Access::$write,
            scope: Scope::$scope,
            width: $width,
            presence: Processors::$presence,
        }),*];
    };
}

/// The table, by ascending number.
pub static SPRS: &[SprRow] = ROWS;

macro_rules! registers {
    ($($name:ident)*) => {
        /// A special-purpose register; several SPR numbers may name one.
        #[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
        #[allow(missing_docs, reason = "the architecture's names are the documentation")]
        #[repr(u8)]
        pub enum Spr { $($name),* }

        impl Spr {
            /// Every register.
            pub const ALL: &[Self] = &[$(Self::$name),*];
            /// How many registers there are; `spr as usize` is below it.
            pub const COUNT: usize = Self::ALL.len();
        }
    };
}

registers! {
    Xer Dscr Lr Ctr Amr Dsisr Dar Dec Sdr1 Srr0 Srr1 Cfar Pidr Iamr
    Tfhar Tfiar Texasr Tidr Ctrl Fscr Uamor Pspb Mppr Dpdes Dawr0 Rpr Ciabr Dawrx0 Hfscr
    Vrsave Tb Sprg0 Sprg1 Sprg2 Sprg3 Pvr Hsprg0 Hsprg1 Hdsisr Hdar Spurr Purr Hdec
    Rmor Hrmor Hsrr0 Hsrr1 Lpcr Lpidr Hmer Hmeer Pcr Heir Amor Tir Ptcr
    Sier Mmcr2 Mmcra Pmc1 Pmc2 Pmc3 Pmc4 Pmc5 Pmc6 Mmcr0 Siar Sdar Mmcr1
    Bescr Ebbhr Ebbrr Tar Asdr Psscr Ic Vtb Mmcrc Trig1 Trig2 Ppr Wort Hid0 Pir
    Mmcrh Mmcrs Spmc1 Spmc2
    Acop Tacr Tcscr Csigr
    Ldbar Tscr Ttr Sprc Sprd Tfmr Imc Pmsr Pmcr Rwmr L2qosr Cir Trace
}

sprs! {
    //  read       write      scope  bits presence
       1 XER     Xer    Problem    Problem    Thread 64 Both;
       3 DSCR    Dscr   Problem    Problem    Thread 25 Both;
       8 LR      Lr     Problem    Problem    Thread 64 Both;
       9 CTR     Ctr    Problem    Problem    Thread 64 Both;
      13 AMR     Amr    Problem    Problem    Thread 64 Both;
      17 DSCR    Dscr   Privileged Privileged Thread 25 Both;
      18 DSISR   Dsisr  Privileged Privileged Thread 32 Both;
      19 DAR     Dar    Privileged Privileged Thread 64 Both;
      22 DEC     Dec    Privileged Privileged Thread 64 Both;
      25 SDR1    Sdr1   Hypervisor Hypervisor Subcore 64 Power8;
      26 SRR0    Srr0   Privileged Privileged Thread 64 Both;
      27 SRR1    Srr1   Privileged Privileged Thread 64 Both;
      28 CFAR    Cfar   Privileged Privileged Thread 64 Both;
      29 AMR     Amr    Privileged Privileged Thread 64 Both;
      31 ACOP    Acop   Privileged Privileged Thread 64 Power8;
      48 PIDR    Pidr   Privileged Privileged Thread 32 Both;
      61 IAMR    Iamr   Privileged Privileged Thread 64 Both;
     128 TFHAR   Tfhar  Problem    Problem    Thread 64 Both;
     129 TFIAR   Tfiar  Problem    Problem    Thread 64 Both;
     130 TEXASR  Texasr Problem    Problem    Thread 64 Both;
     131 TEXASRU Texasr Problem    Problem    Thread 32 Both;
     136 CTRL    Ctrl   Problem    None       Thread 32 Both;
     144 TIDR    Tidr   Privileged Privileged Thread 64 Power9;
     152 CTRL    Ctrl   None       Privileged Thread 32 Both;
     153 FSCR    Fscr   Privileged Privileged Thread 64 Both;
     157 UAMOR   Uamor  Privileged Privileged Thread 64 Both;
     159 PSPB    Pspb   Privileged Privileged Thread 32 Both;
     176 DPDES   Dpdes  Privileged Hypervisor Subcore 64 Both;
     180 DAWR0   Dawr0  Hypervisor Hypervisor Thread 64 Both;
     184 MPPR    Mppr   Hypervisor Hypervisor Core 64 Power8;
     186 RPR     Rpr    Hypervisor Hypervisor Core 64 Both;
     187 CIABR   Ciabr  Hypervisor Hypervisor Thread 64 Both;
     188 DAWRX0  Dawrx0 Hypervisor Hypervisor Thread 32 Both;
     190 HFSCR   Hfscr  Hypervisor Hypervisor Thread 64 Both;
     256 VRSAVE  Vrsave Problem    Problem    Thread 32 Both;
     259 SPRG3   Sprg3  Problem    None       Thread 64 Both;
     268 TB      Tb     Problem    None       Chip   64 Both;
     269 TBU     Tb     Problem    None       Chip   32 Both;
     272 SPRG0   Sprg0  Privileged Privileged Thread 64 Both;
     273 SPRG1   Sprg1  Privileged Privileged Thread 64 Both;
     274 SPRG2   Sprg2  Privileged Privileged Thread 64 Both;
     275 SPRG3   Sprg3  Privileged Privileged Thread 64 Both;
     276 SPRC    Sprc   Hypervisor Hypervisor Thread 64 Both;
     277 SPRD    Sprd   Hypervisor Hypervisor Core   64 Both;
     283 CIR     Cir    Privileged None       Chip   32 Both;
     284 TBL     Tb     None       Hypervisor Chip   32 Both;
     285 TBU     Tb     None       Hypervisor Chip   32 Both;
     286 TBU40   Tb     None       Hypervisor Chip   64 Both;
     287 PVR     Pvr    Privileged None       Chip   32 Both;
     304 HSPRG0  Hsprg0 Hypervisor Hypervisor Thread 64 Both;
     305 HSPRG1  Hsprg1 Hypervisor Hypervisor Thread 64 Both;
     306 HDSISR  Hdsisr Hypervisor Hypervisor Thread 32 Both;
     307 HDAR    Hdar   Hypervisor Hypervisor Thread 64 Both;
     308 SPURR   Spurr  Privileged Hypervisor Thread 64 Both;
     309 PURR    Purr   Privileged Hypervisor Thread 64 Both;
     310 HDEC    Hdec   Hypervisor Hypervisor Subcore 64 Both;
     312 RMOR    Rmor   Hypervisor Hypervisor Subcore 64 Power8;
     313 HRMOR   Hrmor  Hypervisor Hypervisor Core   64 Both;
     314 HSRR0   Hsrr0  Hypervisor Hypervisor Thread 64 Both;
     315 HSRR1   Hsrr1  Hypervisor Hypervisor Thread 64 Both;
     316 MMCRH   Mmcrh  Hypervisor Hypervisor Thread 64 Power8;
     317 TFMR    Tfmr   Hypervisor Hypervisor Core   64 Both;
     318 LPCR    Lpcr   Hypervisor Hypervisor Thread 64 Both;
     319 LPIDR   Lpidr  Hypervisor Hypervisor Subcore 32 Both;
     336 HMER    Hmer   Hypervisor Hypervisor Thread 64 Both;
     337 HMEER   Hmeer  Hypervisor Hypervisor Core   64 Both;
     338 PCR     Pcr    Hypervisor Hypervisor Subcore 64 Both;
     339 HEIR    Heir   Hypervisor Hypervisor Thread 32 Both;
     349 AMOR    Amor   Hypervisor Hypervisor Thread 64 Both;
     446 TIR     Tir    Privileged None       Thread 64 Both;
     464 PTCR    Ptcr   Hypervisor Hypervisor Core   64 Power9;
     768 SIER    Sier   Problem    None       Thread 64 Both;
     769 MMCR2   Mmcr2  Problem    Problem    Thread 64 Both;
     770 MMCRA   Mmcra  Problem    Problem    Thread 64 Both;
     771 PMC1    Pmc1   Problem    Problem    Thread 32 Both;
     772 PMC2    Pmc2   Problem    Problem    Thread 32 Both;
     773 PMC3    Pmc3   Problem    Problem    Thread 32 Both;
     774 PMC4    Pmc4   Problem    Problem    Thread 32 Both;
     775 PMC5    Pmc5   Problem    Problem    Thread 32 Both;
     776 PMC6    Pmc6   Problem    Problem    Thread 32 Both;
     779 MMCR0   Mmcr0  Problem    Problem    Thread 32 Both;
     780 SIAR    Siar   Problem    None       Thread 64 Both;
     781 SDAR    Sdar   Problem    None       Thread 64 Both;
     782 MMCR1   Mmcr1  Problem    None       Thread 64 Both;
     784 SIER    Sier   Privileged Privileged Thread 64 Both;
     785 MMCR2   Mmcr2  Privileged Privileged Thread 64 Both;
     786 MMCRA   Mmcra  Privileged Privileged Thread 64 Both;
     787 PMC1    Pmc1   Privileged Privileged Thread 32 Both;
     788 PMC2    Pmc2   Privileged Privileged Thread 32 Both;
     789 PMC3    Pmc3   Privileged Privileged Thread 32 Both;
     790 PMC4    Pmc4   Privileged Privileged Thread 32 Both;
     791 PMC5    Pmc5   Privileged Privileged Thread 32 Both;
     792 PMC6    Pmc6   Privileged Privileged Thread 32 Both;
     795 MMCR0   Mmcr0  Privileged Privileged Thread 32 Both;
     796 SIAR    Siar   Privileged Privileged Thread 64 Both;
     797 SDAR    Sdar   Privileged Privileged Thread 64 Both;
     798 MMCR1   Mmcr1  Privileged Privileged Thread 64 Both;
     799 IMC     Imc    Hypervisor Hypervisor Core   64 Power9;
     800 BESCRS  Bescr  Problem    Problem    Thread 64 Both;
     801 BESCRSU Bescr  Problem    Problem    Thread 32 Both;
     802 BESCRR  Bescr  Problem    Problem    Thread 64 Both;
     803 BESCRRU Bescr  Problem    Problem    Thread 32 Both;
     804 EBBHR   Ebbhr  Problem    Problem    Thread 64 Both;
     805 EBBRR   Ebbrr  Problem    Problem    Thread 64 Both;
     806 BESCR   Bescr  Problem    Problem    Thread 64 Both;
     815 TAR     Tar    Problem    Problem    Thread 64 Both;
     816 ASDR    Asdr   Hypervisor Hypervisor Thread 64 Power9;
     823 PSSCR   Psscr  Privileged Privileged Thread 64 Power9;
     848 IC      Ic     Privileged Hypervisor Thread 64 Both;
     849 VTB     Vtb    Privileged Hypervisor Subcore 64 Both;
     850 LDBAR   Ldbar  Hypervisor Hypervisor Thread 64 Power9;
     851 MMCRC   Mmcrc  Hypervisor Hypervisor Thread 32 Both;
     853 PMSR    Pmsr   Hypervisor None       Core   64 Power9;
     855 PSSCR   Psscr  Hypervisor Hypervisor Thread 64 Power9;
     861 L2QOSR  L2qosr None       Hypervisor Core   64 Power9;
     881 TRIG1   Trig1  Privileged Privileged Thread 64 Both;
     882 TRIG2   Trig2  Privileged Privileged Thread 64 Both;
     884 PMCR    Pmcr   Hypervisor Hypervisor Core   64 Power9;
     885 RWMR    Rwmr   Hypervisor Hypervisor Core   64 Both;
     888 TACR    Tacr   Privileged Privileged Thread 64 Power8;
     889 TCSCR   Tcscr  Privileged Privileged Thread 64 Power8;
     890 CSIGR   Csigr  Privileged Privileged Thread 64 Power8;
     892 SPMC1   Spmc1  Privileged Privileged Thread 32 Power8;
     893 SPMC2   Spmc2  Privileged Privileged Thread 32 Power8;
     894 MMCRS   Mmcrs  Privileged Privileged Thread 64 Power8;
     895 WORT    Wort   Privileged Privileged Thread 64 Both;
     896 PPR     Ppr    Problem    Problem    Thread 64 Both;
     898 PPR32   Ppr    Problem    Problem    Thread 32 Both;
     921 TSCR    Tscr   Hypervisor Hypervisor Core   32 Both;
     922 TTR     Ttr    Hypervisor Hypervisor Core   64 Both;
    1006 TRACE   Trace  None       Problem    Thread 64 Power9;
    1008 HID0    Hid0   Hypervisor Hypervisor Core   64 Both;
    1023 PIR     Pir    Privileged None       Thread 32 Both;
}

/// How many SPR numbers there are.
const NUMBERS: usize = 1024;
const NO_ROW: u8 = u8::MAX;

/// The place in [`SPRS`] of every number.
static ROW_OF_NUMBER: [u8; NUMBERS] = {
    let mut rows = [NO_ROW; NUMBERS];
    let mut row = 0;
    while row < SPRS.len() {
        rows[SPRS[row].number as usize] = row as u8;
        row += 1;
    }
    rows
};

/// The place in [`SPRS`] of the row that carries the whole of a register; the last of several.
static ROW_OF_REGISTER: [u8; Spr::COUNT] = {
    assert!(SPRS.len() < NO_ROW as usize);
    let mut rows = [NO_ROW; Spr::COUNT];
    let mut row = 0;
    while row < SPRS.len() {
        let known = &mut rows[SPRS[row].spr as usize];
        if *known == NO_ROW || SPRS[*known as usize].width <= SPRS[row].width {
            *known = row as u8;
        }
        row += 1;
    }
    rows
};

impl SprRow {
    /// The row for `number`, which means the same register on every processor that has it.
    #[must_use]
    pub fn of_number(number: u16) -> Option<&'static Self> {
        SPRS.get(usize::from(*ROW_OF_NUMBER.get(usize::from(number))?))
    }

    /// The row for `number` on `processor`, if that processor has it.
    #[must_use]
    pub fn find(number: u16, processor: Processor) -> Option<&'static Self> {
        Self::of_number(number).filter(|row| row.presence.includes(processor))
    }

    /// Whether `processor` has the register behind `number`.
    #[must_use]
    pub const fn is_on(number: u16, processor: Processor) -> bool {
        let mut rows = ROWS;
        while let [row, others @ ..] = rows {
            rows = others;
            if row.number == number {
                return row.presence.includes(processor);
            }
        }
        false
    }

    /// The bits that the register can hold.
    #[must_use]
    pub const fn mask(&self) -> u64 {
        u64::MAX >> (64 - self.width)
    }
}

impl Spr {
    /// A row that describes this register: the one whose number carries the whole of it.
    #[must_use]
    pub fn row(self) -> &'static SprRow {
        &SPRS[usize::from(ROW_OF_REGISTER[self as usize])]
    }

    /// The number by which privileged software reads the whole of it; the last of several.
    ///
    /// # Panics
    /// When nobody can read it: where a constant is made of it, at compile time.
    #[must_use]
    pub const fn number_to_read(self) -> u16 {
        self.widest(false).number
    }

    /// The number by which privileged software writes the whole of it; the last of several.
    ///
    /// # Panics
    /// When nobody can write it: where a constant is made of it, at compile time.
    #[must_use]
    pub const fn number_to_write(self) -> u16 {
        self.widest(true).number
    }

    const fn widest(self, is_write: bool) -> &'static SprRow {
        let mut widest: Option<&SprRow> = None;
        let mut rows = ROWS;
        while let [row, others @ ..] = rows {
            rows = others;
            let access = if is_write { row.write } else { row.read };
            let is_of_it = row.spr as usize == self as usize && !matches!(access, Access::None);
            if !is_of_it {
                continue;
            }
            widest = match widest {
                Some(other) if other.width > row.width => Some(other),
                _ => Some(row),
            };
        }
        widest.expect("the register has no number for this direction")
    }

    /// The architecture's name.
    #[must_use]
    pub fn name(self) -> &'static str {
        self.row().name
    }

    /// The value after power-on as firmware hands it to a payload, where it is not zero.
    ///
    /// What differs between processors is in its [`Facts`](crate::processor::Facts).
    #[must_use]
    pub const fn reset(self, processor: Processor) -> u64 {
        let at_power_on = &processor.facts().at_power_on;
        match self {
            Self::Pvr => at_power_on.pvr as u64,
            Self::Lpcr => at_power_on.lpcr,
            Self::Hid0 => at_power_on.hid0,
            Self::Rpr => at_power_on.rpr,
            Self::Ppr => ppr::MEDIUM,
            // Frozen: FC.
            Self::Mmcr0 => 0x8000_0000,
            // Far from its exception, so that nobody finds one of firmware's time.
            Self::Hdec => 0xFFFF_FFFF,
            // Version 1 of power management.
            Self::Pmcr | Self::Pmsr => 1,
            Self::Tfmr => tfmr::AT_POWER_ON,
            // The run latch is on.
            Self::Ctrl => 1,
            _ => 0,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{SPRS, Spr, SprRow};
    use crate::processor::Processor;

    #[test]
    fn numbers_ascend_and_each_is_found() {
        assert!(SPRS.windows(2).all(|pair| pair[0].number < pair[1].number));
        for row in SPRS {
            let found = Processor::ALL
                .map(|processor| SprRow::find(row.number, processor).map(|found| found.name));
            assert!(found.contains(&Some(row.name)), "{}", row.name);
        }
        assert!(SprRow::find(0, Processor::Power9).is_none());
        assert!(SprRow::find(1024, Processor::Power9).is_none());
    }

    #[test]
    fn every_register_has_a_row_and_its_reset_value_fits() {
        for &spr in Spr::ALL {
            for processor in Processor::ALL {
                assert_eq!(spr.row().spr, spr);
                assert_eq!(spr.reset(processor) & !spr.row().mask(), 0, "{spr:?}");
            }
        }
    }

    #[test]
    fn registers_that_are_not_zero_at_first_have_the_values_that_firmware_leaves() {
        let values = |processor| {
            let some = [Spr::Pvr, Spr::Lpcr, Spr::Hid0, Spr::Ppr, Spr::Ctrl, Spr::Dec];
            some.map(|spr| spr.reset(processor))
        };
        let (ppr, ctrl) = (0x0010_0000_0000_0000, 1);
        let power9 = [0x004E_1203, 0x0040_0000_0000_A000, 0x0080_0000_0000_0000, ppr, ctrl, 0];
        assert_eq!(values(Processor::Power9), power9);
        let power8 = [0x004D_0200, 0x0040_0000_0000_6000, 0, ppr, ctrl, 0];
        assert_eq!(values(Processor::Power8), power8);
    }

    #[test]
    fn a_register_of_several_numbers_is_named_for_the_one_with_all_of_it() {
        assert_eq!((Spr::Ppr.row().number, Spr::Ppr.name()), (896, "PPR"));
        assert_eq!((Spr::Ppr.row().mask(), Spr::Pir.row().mask()), (u64::MAX, 0xFFFF_FFFF));
    }

    #[test]
    fn privileged_software_has_a_number_for_each_direction() {
        let numbers = |spr: Spr| (spr.number_to_read(), spr.number_to_write());
        assert_eq!(numbers(Spr::Ctrl), (136, 152));
        assert_eq!(numbers(Spr::Dscr), (17, 17));
        assert_eq!(numbers(Spr::Mmcr0), (795, 795));
        assert_eq!(numbers(Spr::Ppr), (896, 896));
        assert_eq!(Spr::Tb.number_to_read(), 268);
    }

    #[test]
    fn presence_hides_a_register_from_the_other_processor() {
        assert!(SprRow::find(464, Processor::Power8).is_none());
        assert_eq!(SprRow::find(464, Processor::Power9).unwrap().spr, Spr::Ptcr);
        assert_eq!(SprRow::find(25, Processor::Power8).unwrap().spr, Spr::Sdr1);
        assert!(SprRow::find(25, Processor::Power9).is_none());
        for processor in Processor::ALL {
            for number in 0..1024 {
                let is_on = SprRow::find(number, processor).is_some();
                assert_eq!(SprRow::is_on(number, processor), is_on, "{number} {processor}");
            }
        }
    }
}
