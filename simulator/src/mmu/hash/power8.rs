//! ISA 2.07: SDR1 names the hashed page table, LPCR and RMOR what relocation off means.
//! Source: `docs/facts/power8.md#relocation-off-in-a-partition`.

use arch::address::{EffectiveAddress, RealAddress};
use arch::hash::{self, Table};
use arch::interrupt::storage;
use arch::registers::lpcr;
use arch::registers::spr::Spr;

use super::{PerProcessor, REAL, in_area};
use crate::mmu::fault::Fault;
use crate::mmu::located::Where;
use crate::mmu::read::Read;
use crate::state::shared::Shared;
use crate::state::thread::Thread;
use crate::state::walk_cache::WalkCache;

pub(super) static OWN: PerProcessor = PerProcessor { table, real_mode };

fn table(
    _: &Shared,
    thread: &Thread,
    _: Option<&WalkCache>,
    _: u32,
    _: &mut Vec<Read>,
) -> Result<Option<Table>, Fault> {
    Ok(Some(Table::from_doubleword(thread.spr(Spr::Sdr1))))
}

/// With LPCR\[VPM0\]=1 the virtual real mode area; with 0 so much memory from RMOR on as LPCR\[RMLS\] says.
fn real_mode(thread: &Thread, _: &Shared, address: EffectiveAddress) -> Result<Where, Fault> {
    let lpcr = thread.spr(Spr::Lpcr);
    if lpcr & lpcr::VPM0 != 0 {
        let vsid = hash::virtual_real_mode_of_vrmasd(lpcr::VRMASD.get(lpcr));
        return in_area(thread, vsid, address).map(Where::Virtual);
    }
    let offset = address.0 & REAL;
    if offset >= limit(lpcr::RMLS.get(lpcr)) {
        return Err(Fault::Storage(storage::PROTECTION));
    }
    Ok(Where::Real(RealAddress(offset | thread.spr(Spr::Rmor))))
}

/// The bytes that a partition reaches with relocation off.
fn limit(rmls: u64) -> u64 {
    match rmls {
        0 => 256 << 30,
        1 => 16 << 30,
        2 => 1 << 30,
        3 => 64 << 20,
        4 => 256 << 20,
        7 => 128 << 20,
        8 => 32 << 20,
        // Reserved.
        _ => 0,
    }
}
