//! What a generator must know of an instruction's storage access: how many bytes, how aligned.

use arch::instruction::{Mnemonic, Word};
use arch::registers::xer;

/// A storage access.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Access {
    /// Bytes from the effective address on.
    pub(crate) bytes: u64,
    /// What the address should mostly be a multiple of.
    pub(crate) multiple_of: u64,
}

/// The access of an instruction, if it makes one; `xer` holds the count of `lswx` and `stswx`.
pub(crate) fn access(mnemonic: Mnemonic, word: Word, xer: u64) -> Option<Access> {
    use Mnemonic as M;
    let plain = |bytes| Some(Access { bytes, multiple_of: 1 });
    let aligned = |bytes| Some(Access { bytes, multiple_of: bytes });
    match mnemonic {
        M::Lbz | M::Lbzu | M::Lbzx | M::Lbzux | M::Stb | M::Stbu | M::Stbx | M::Stbux => plain(1),
        M::Lhz | M::Lhzu | M::Lhzx | M::Lhzux | M::Lha | M::Lhau | M::Lhax | M::Lhaux => plain(2),
        M::Lhbrx | M::Sth | M::Sthu | M::Sthx | M::Sthux | M::Sthbrx => plain(2),
        M::Lwz | M::Lwzu | M::Lwzx | M::Lwzux | M::Lwa | M::Lwax | M::Lwaux | M::Lwbrx => plain(4),
        M::Stw | M::Stwu | M::Stwx | M::Stwux | M::Stwbrx => plain(4),
        M::Lfs | M::Lfsu | M::Lfsx | M::Lfsux | M::Lfiwax | M::Lfiwzx => plain(4),
        M::Stfs | M::Stfsu | M::Stfsx | M::Stfsux | M::Stfiwx => plain(4),
        M::Ld | M::Ldu | M::Ldx | M::Ldux | M::Ldbrx => plain(8),
        M::Std | M::Stdu | M::Stdx | M::Stdux | M::Stdbrx => plain(8),
        M::Lfd | M::Lfdu | M::Lfdx | M::Lfdux => plain(8),
        M::Stfd | M::Stfdu | M::Stfdx | M::Stfdux => plain(8),
        M::Lvebx | M::Stvebx => plain(1),
        M::Lvehx | M::Stvehx => Some(Access { bytes: 2, multiple_of: 2 }),
        M::Lvewx | M::Stvewx => Some(Access { bytes: 4, multiple_of: 4 }),
        M::Lvx | M::Lvxl | M::Stvx | M::Stvxl => aligned(16),
        M::Lxv | M::Lxvx | M::Lxvd2x | M::Lxvw4x | M::Lxvh8x | M::Lxvb16x => plain(16),
        M::Stxv | M::Stxvx | M::Stxvd2x | M::Stxvw4x | M::Stxvh8x | M::Stxvb16x => plain(16),
        M::Lxvdsx | M::Lxsd | M::Lxsdx | M::Stxsd | M::Stxsdx => plain(8),
        M::Lxvwsx | M::Lxssp | M::Lxsspx | M::Lxsiwax | M::Lxsiwzx => plain(4),
        M::Stxssp | M::Stxsspx | M::Stxsiwx => plain(4),
        M::Lxsihzx | M::Stxsihx => plain(2),
        M::Lxsibzx | M::Stxsibx => plain(1),
        M::Lfdp | M::Lfdpx | M::Stfdp | M::Stfdpx => aligned(16),
        M::Lq | M::Stq | M::Lqarx | M::Stqcx => aligned(16),
        M::Lbarx | M::Stbcx => aligned(1),
        M::Lharx | M::Sthcx => aligned(2),
        M::Lwarx | M::Stwcx => aligned(4),
        M::Ldarx | M::Stdcx => aligned(8),
        M::Lwat | M::Stwat => Some(Access { bytes: 8, multiple_of: 4 }),
        M::Ldat | M::Stdat => Some(Access { bytes: 16, multiple_of: 8 }),
        M::Lmw | M::Stmw => plain(4 * (32 - word.rt() as u64)),
        M::Lswi | M::Stswi => plain(word.nb().into()),
        M::Lswx | M::Stswx => plain(xer & xer::BYTES),
        M::Dcbz | M::Dcbst | M::Dcbf | M::Icbi | M::Dcbt | M::Dcbtst | M::Icbt => plain(1),
        _ => None,
    }
}

/// The load that reserves what a store conditional stores.
pub(crate) fn reserving_load(mnemonic: Mnemonic) -> Option<Mnemonic> {
    use Mnemonic as M;
    Some(match mnemonic {
        M::Stbcx => M::Lbarx,
        M::Sthcx => M::Lharx,
        M::Stwcx => M::Lwarx,
        M::Stdcx => M::Ldarx,
        M::Stqcx => M::Lqarx,
        _ => return None,
    })
}
