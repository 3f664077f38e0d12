//! Looks at memory, by each kind of address, without side effects.

use arch::address::{EffectiveAddress, RealAddress};
use arch::registers::msr;
use arch::registers::spr::Spr;

use super::Machine;
use super::state::State;
use crate::mmu::{self, Access};

/// No page is smaller.
const PAGE: u64 = 4096;

impl Machine {
    /// The four bytes that thread `index` would fetch from effective address `address` in its state of now;
    /// `None` where it has no translation or no memory answers.
    #[must_use]
    pub fn code_at(&self, index: usize, address: u64) -> Option<[u8; 4]> {
        let State { threads, shared, .. } = &self.state;
        let thread = threads.get(index)?;
        let real = mmu::look(thread, shared, EffectiveAddress(address & !3), Access::Fetch)?;
        Some(shared.memory.read(shared.memory.locate(real)?))
    }

    /// Reads memory from effective address `address` on as thread `index` would load it in its state of now.
    /// Says how many bytes it read: those before the first that has no translation, or where no memory answers.
    #[must_use]
    pub fn look_at(&self, index: usize, address: u64, bytes: &mut [u8]) -> usize {
        let State { threads, shared, .. } = &self.state;
        let Some(thread) = threads.get(index) else { return 0 };
        self.look(address, bytes, |address| mmu::look(thread, shared, address, Access::Load))
    }

    /// The same from guest real address `address` of partition `lpid` on: as a thread of the partition would
    /// load it with relocation off. No partition has memory before the hypervisor has set up its translation.
    #[must_use]
    pub fn look_at_guest_real(&self, lpid: u32, address: u64, bytes: &mut [u8]) -> usize {
        let State { threads, shared, .. } = &self.state;
        let Some(mut thread) = threads.first().cloned() else { return 0 };
        thread.set_spr(Spr::Lpidr, lpid.into());
        thread.set_msr(msr::SF);
        self.look(address, bytes, |address| mmu::look(&thread, shared, address, Access::Load))
    }

    /// The same from effective address `address` on, as the hypervisor would load it with relocation on, where
    /// it has memory of its own (quadrant 3, which has no partition and no process).
    #[must_use]
    pub fn look_at_host(&self, address: u64, bytes: &mut [u8]) -> usize {
        let State { threads, shared, .. } = &self.state;
        let Some(mut thread) = threads.first().cloned() else { return 0 };
        thread.set_msr(msr::SF | msr::HV | msr::DR);
        self.look(address, bytes, |address| mmu::look(&thread, shared, address, Access::Load))
    }

    /// The same from real address `address` on.
    #[must_use]
    pub fn look_at_real(&self, address: u64, bytes: &mut [u8]) -> usize {
        self.look(address, bytes, |address| Some(RealAddress(address.0)))
    }

    fn look(
        &self,
        address: u64,
        bytes: &mut [u8],
        real: impl Fn(EffectiveAddress) -> Option<RealAddress>,
    ) -> usize {
        let memory = &self.state.shared.memory;
        let mut page = None;
        for (read, byte) in bytes.iter_mut().enumerate() {
            let address = address.wrapping_add(read as u64);
            if page.is_none() || address.is_multiple_of(PAGE) {
                page = real(EffectiveAddress(address)).map(|real| real.0 - address % PAGE);
            }
            let offset = page.and_then(|page| memory.locate(RealAddress(page + address % PAGE)));
            let Some(offset) = offset else { return read };
            [*byte] = memory.read(offset);
        }
        bytes.len()
    }
}
