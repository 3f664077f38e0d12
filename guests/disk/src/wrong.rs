//! Messages and commands that the adapter has to refuse, with what they have to come to.

use arch::papr::{Hypercall, rtas, status, tce};
use arch::scsi::{Sense, operation};
use arch::vscsi::srp::response;

use crate::adapter::{
    BLOCK_BYTES, Command, Direction, SOURCE, UNIT, VCPUS_MAX, buffer, command, expect, moves,
};

/// Sends them, to the disk `target` that has so many blocks.
pub(crate) fn send(target: u64, blocks: u64, is_writable: bool) {
    let expect_wrong = |call, arguments| expect(call, arguments, status::H_PARAMETER);
    // Another unit, a message that is none, a unit that is too long or nowhere, a mode that is none.
    expect_wrong(Hypercall::SendCrq, [UNIT + 1, 0xC001 << 48, 0, 0]);
    expect_wrong(Hypercall::FreeCrq, [0; 4]);
    expect_wrong(Hypercall::RegCrq, [UNIT, 0x10, 0x1000, 0]);
    for head in [0, 0x8003 << 48, 0x8001_0000_0000_0101, 0xC003 << 48, u64::MAX] {
        expect_wrong(Hypercall::SendCrq, [UNIT, head, 0x1000, 0]);
    }
    for address in [tce::WINDOW_BYTES_MAX, u64::MAX, u64::MAX << 12] {
        expect_wrong(Hypercall::SendCrq, [UNIT, 0x8001_0000_0000_0040, address, 0]);
    }
    expect_wrong(Hypercall::VioSignal, [UNIT, 2, 0, 0]);
    for wrong in [[SOURCE + 1, 0, 5], [SOURCE, 1 << 16, 5], [SOURCE, 0, 256]] {
        assert_eq!(rt::rtas_call(rtas::SET_XIVE, &wrong), [rtas::PARAMETER]);
    }

    let here = [(buffer(0), 4 * BLOCK_BYTES)];
    let ask = |target, cdb: &[u8], direction, pieces: &[(u64, u64)]| {
        command(0, Command { target, cdb, direction, pieces })
    };
    let refused = |cdb: &[u8], direction, pieces: &[(u64, u64)], sense| {
        assert_eq!(ask(target, cdb, direction, pieces).sense, Some(sense), "{cdb:x?}");
    };
    let (read, write) = (Direction::In, Direction::Out);
    for first in [blocks, blocks - 3, u64::from(u32::MAX)] {
        refused(&moves(read, first, 4), read, &here, Sense::OUT_OF_RANGE);
        refused(&moves(write, first, 4), write, &here, Sense::OUT_OF_RANGE);
    }
    if !is_writable {
        refused(&moves(write, 0, 4), write, &here, Sense::WRITE_PROTECTED);
    }
    refused(&[0xFF; 10], read, &here, Sense::INVALID_COMMAND);
    refused(&[operation::INQUIRY, 1, 0x55, 0, 64, 0], read, &here, Sense::INVALID_FIELD);
    // Data that the adapter does not see, wholly and in part.
    let nowhere = tce::WINDOW_BYTES_MAX - 0x1000;
    for pieces in [
        &[(nowhere, 4 * BLOCK_BYTES)][..],
        &[(buffer(0), 512), (nowhere, 3 * 512)],
        &[(u64::MAX - 8, 4 * BLOCK_BYTES)],
        &[(buffer(VCPUS_MAX) - 512, 4 * 512)],
    ] {
        refused(&moves(read, 0, 4), read, pieces, Sense::DATA_PHASE_ERROR);
    }
    // No such disk.
    let other = ask(63, &moves(read, 0, 4), read, &here);
    assert_eq!(other.sense, Some(Sense::NO_LOGICAL_UNIT));

    // Less and more place than the blocks need.
    let answer = ask(target, &moves(read, 0, 4), read, &[(buffer(0), 3 * 512)]);
    assert_eq!((answer.sense, answer.residual), (None, (response::IN_OVER, 0, 512)));
    let answer = ask(target, &moves(read, 0, 4), read, &[(buffer(0), 5 * 512)]);
    assert_eq!((answer.sense, answer.residual), (None, (response::IN_UNDER, 0, 512)));
    let answer = ask(target, &moves(read, 0, 0), read, &[]);
    assert_eq!((answer.sense, answer.residual), (None, (0, 0, 0)));
}
