//! What one case starts from and ends with, as both sides see it.

/// Bytes of memory that a case may touch: 128 on each side of a page boundary.
pub const WINDOW_BYTES: usize = 256;

/// The doublewords of a record in guest memory, in the order of [`State::registers`], and then the
/// window.
pub const REGISTERS: usize = 32 + 10 + 2 * 64;
/// Bytes of a record.
pub const RECORD_BYTES: usize = 8 * REGISTERS + WINDOW_BYTES;

/// In which order the bytes of a register lie in memory, and of an instruction.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum ByteOrder {
    /// The least significant first.
    Little,
    /// The most significant first.
    Big,
}

/// Where execution went after a case.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Exit {
    /// To the next instruction.
    Next,
    /// To the one after it.
    Forward,
    /// To the absolute address that branches aim at.
    Landing,
    /// To the place before the instruction that branches aim at.
    Backward,
}

impl Exit {
    /// Every exit, by its number.
    pub const ALL: [Self; 4] = [Self::Next, Self::Forward, Self::Landing, Self::Backward];
}

/// The registers and the memory of a case.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct State {
    /// General-purpose registers.
    pub gpr: [u64; 32],
    /// Condition register.
    pub cr: u64,
    /// Fixed-point exception register.
    pub xer: u64,
    /// Link register.
    pub lr: u64,
    /// Count register.
    pub ctr: u64,
    /// Target address register.
    pub tar: u64,
    /// VRSAVE, which nothing but `mtspr` changes.
    pub vrsave: u64,
    /// Floating-point status and control register.
    pub fpscr: u64,
    /// Number of the [`Exit`] afterwards; before, the address of the case's entry.
    pub exit: u64,
    /// Vector status and control register, after a doubleword of zeros, as `mfvscr` delivers it.
    pub vscr: [u64; 2],
    /// Vector-scalar registers, doubleword 0 first. Doubleword 0 of the first half are the FPRs, the second half the
    /// VRs.
    pub vsr: [[u64; 2]; 64],
    /// The memory that the case may touch.
    pub window: [u8; WINDOW_BYTES],
}

impl State {
    /// The doublewords of a record.
    #[must_use]
    pub fn registers(&self) -> Vec<u64> {
        let single =
            [self.cr, self.xer, self.lr, self.ctr, self.tar, self.vrsave, self.fpscr, self.exit];
        [self.gpr.as_slice(), &single, &self.vscr, self.vsr.as_flattened()].concat()
    }

    /// VR `number`.
    #[must_use]
    pub fn vr(&self, number: usize) -> u128 {
        let [high, low] = self.vsr[32 + number];
        u128::from(high) << 64 | u128::from(low)
    }

    /// Sets VR `number`.
    pub fn set_vr(&mut self, number: usize, value: u128) {
        self.vsr[32 + number] = [(value >> 64) as u64, value as u64];
    }

    /// Puts the record together.
    #[must_use]
    pub fn to_bytes(&self, order: ByteOrder) -> Vec<u8> {
        let bytes = |value: u64| match order {
            ByteOrder::Little => value.to_le_bytes(),
            ByteOrder::Big => value.to_be_bytes(),
        };
        let mut record: Vec<u8> = self.registers().into_iter().flat_map(bytes).collect();
        record.extend(self.window);
        record
    }

    /// Takes a record of [`RECORD_BYTES`] bytes apart.
    #[must_use]
    pub fn from_bytes(record: &[u8], order: ByteOrder) -> Self {
        let (registers, window) = record.split_at(8 * REGISTERS);
        let mut registers = registers.as_chunks().0.iter().map(|&bytes| match order {
            ByteOrder::Little => u64::from_le_bytes(bytes),
            ByteOrder::Big => u64::from_be_bytes(bytes),
        });
        let mut next = || registers.next().expect("a record has all registers");
        Self {
            gpr: std::array::from_fn(|_| next()),
            cr: next(),
            xer: next(),
            lr: next(),
            ctr: next(),
            tar: next(),
            vrsave: next(),
            fpscr: next(),
            exit: next(),
            vscr: [next(), next()],
            vsr: std::array::from_fn(|_| [next(), next()]),
            window: window.try_into().expect("a record ends with the window"),
        }
    }
}

/// The name of the doubleword at `index` of a record.
#[must_use]
pub fn register_name(index: usize) -> String {
    match index {
        0..32 => format!("r{index}"),
        32..40 => {
            ["cr", "xer", "lr", "ctr", "tar", "vrsave", "fpscr", "exit"][index - 32].to_owned()
        }
        40 | 41 => format!("vscr.{}", index - 40),
        _ => format!("vs{}.{}", (index - 42) / 2, index % 2),
    }
}
