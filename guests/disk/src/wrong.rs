//! Messages and commands that an adapter has to refuse, with what they have to come to.

use arch::papr::{Hypercall, rtas, status, tce};
use arch::scsi::{Sense, operation};
use arch::vscsi::srp::response;

use crate::adapter::{
    BLOCK_BYTES, Command, Direction, SHARED_BYTES, adapters, buffer, command, expect, moves,
    show_alone, source, unit,
};

/// Sends them, to the disk `target` of an adapter that has so many blocks.
pub(crate) fn send(adapter: usize, target: u64, blocks: u64, is_writable: bool) {
    let (unit, source) = (unit(adapter), source(adapter));
    let expect_wrong = |call, arguments| expect(call, arguments, status::H_PARAMETER);
    // A message that is none, a unit that is too long or nowhere, a mode that is none.
    expect_wrong(Hypercall::RegCrq, [unit, 0x10, 0x1000, 0]);
    for head in [0, 0x8003 << 48, 0x8001_0000_0000_0101, 0xC003 << 48, u64::MAX] {
        expect_wrong(Hypercall::SendCrq, [unit, head, 0x1000, 0]);
    }
    for address in [tce::WINDOW_BYTES_MAX, u64::MAX, u64::MAX << 12] {
        expect_wrong(Hypercall::SendCrq, [unit, 0x8001_0000_0000_0040, address, 0]);
    }
    expect_wrong(Hypercall::VioSignal, [unit, 2, 0, 0]);
    for wrong in [[source, 1 << 16, 5], [source, 0, 256]] {
        assert_eq!(rt::rtas_call(rtas::SET_XIVE, &wrong), [rtas::PARAMETER]);
    }

    let here = [(buffer(0), 4 * BLOCK_BYTES)];
    let ask = |target, cdb: &[u8], direction, pieces: &[(u64, u64)]| {
        command(0, Command { adapter, target, cdb, direction, pieces })
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
        &[(SHARED_BYTES - 512, 4 * 512)],
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

/// Sends what is wrong because of which adapters there are.
pub(crate) fn send_across(target: u64) {
    // Behind the last one, and before the first, there is none.
    let last = adapters() - 1;
    for unit in [unit(last) + 1, unit(0) - 1, 0, u64::MAX] {
        for call in
            [Hypercall::SendCrq, Hypercall::RegCrq, Hypercall::FreeCrq, Hypercall::VioSignal]
        {
            expect(call, [unit, 0, 0x1000, 0], status::H_PARAMETER);
        }
    }
    let beyond = source(last) + 1;
    assert_eq!(rt::rtas_call(rtas::SET_XIVE, &[beyond, 0, 5]), [rtas::PARAMETER]);
    // What one sees, another one does not.
    let place = show_alone(last, 0);
    let cdb = moves(Direction::In, 0, 1);
    for adapter in 0..=last {
        let pieces = &[(place, BLOCK_BYTES)];
        let asked = Command { adapter, target, cdb: &cdb, direction: Direction::In, pieces };
        let sees = adapter == last;
        let expected = (!sees).then_some(Sense::DATA_PHASE_ERROR);
        assert_eq!(command(0, asked).sense, expected, "adapter {adapter} of {last}");
    }
}
