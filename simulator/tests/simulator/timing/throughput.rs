//! How many independent operations a core takes: the units that GCC's and LLVM's models of POWER9 have
//! (`docs/facts/power9-core.md#units`).

use arch::instruction::Mnemonic as M;
use arch::registers::msr;

use super::measure::{DATA, each_after};
use crate::support::Program;

/// Cycles of an operation whose operands are registers 40, 41 and none of what the others write; `target` of one of
/// ten.
fn independent(mnemonic: M, operands: impl Fn(i64) -> Vec<i64>) -> f64 {
    let facilities = |p: Program| {
        let p = p.op(M::Mfmsr, &[3]).set(4, msr::FP | msr::VEC | msr::VSX);
        p.op(M::Or, &[3, 3, 4]).op(M::Mtmsrd, &[3, 0]).set(9, DATA)
    };
    each_after(facilities, |p, index| p.op(mnemonic, &operands(index as i64 % 10)))
}

fn assert_each(mnemonic: M, cycles: f64, operands: impl Fn(i64) -> Vec<i64>) {
    let measured = independent(mnemonic, operands);
    let name = mnemonic.row().name;
    assert!((measured / cycles - 1.0).abs() < 0.05, "{name}: {measured} cycles, not {cycles}");
}

/// Four slices for doubles, two superslices for what has 128 bits.
#[test]
fn a_superslice_takes_two_scalars_or_a_vector() {
    assert_each(M::Fadd, 1.0 / 4.0, |target| vec![target, 20, 21]);
    assert_each(M::Xvadddp, 1.0 / 2.0, |target| vec![target, 40, 41]);
    assert_each(M::Vaddubm, 1.0 / 2.0, |target| vec![target, 20, 21]);
    assert_each(M::Xxlxor, 1.0 / 2.0, |target| vec![target, 40, 41]);
    assert_each(M::Vperm, 1.0 / 2.0, |target| vec![target, 20, 21, 22]);
    // A scalar in a VSR is one slice's.
    assert_each(M::Xsadddp, 1.0 / 4.0, |target| vec![target, 40, 41]);
}

/// A divider in each slice, which a vector takes two of; two for fixed point.
#[test]
fn dividers_are_busy() {
    assert_each(M::Fdiv, 8.0 / 4.0, |target| vec![target, 20, 21]);
    assert_each(M::Fdivs, 5.0 / 4.0, |target| vec![target, 20, 21]);
    assert_each(M::Fsqrt, 10.0 / 4.0, |target| vec![target, 20]);
    assert_each(M::Fsqrts, 5.0 / 4.0, |target| vec![target, 20]);
    assert_each(M::Xvdivdp, 8.0 / 2.0, |target| vec![target, 40, 41]);
    assert_each(M::Xvsqrtdp, 10.0 / 2.0, |target| vec![target, 40]);
    assert_each(M::Divd, 8.0 / 2.0, |target| vec![10 + target, 4, 3]);
}

/// One unit for ciphers, and one for quad precision.
#[test]
fn there_is_one_unit_for_ciphers_and_one_for_quad_precision() {
    assert_each(M::Vcipher, 1.0, |target| vec![target, 20, 21]);
    assert_each(M::Xsaddqp, 1.0, |target| vec![target, 20, 21]);
    assert_each(M::Xsmulqp, 12.0, |target| vec![target, 20, 21]);
    assert_each(M::Xsdivqp, 44.0, |target| vec![target, 20, 21]);
}

/// A load or store of 128 bits takes two address generators, and a store its data's slices.
#[test]
fn address_generators_and_the_slices_of_stores() {
    assert_each(M::Lvx, 1.0 / 2.0, |target| vec![target, 0, 9]);
    assert_each(M::Ld, 1.0 / 4.0, |target| vec![10 + target, 0, 9]);
}

/// Cycles of one round for each of `lines` lines that nobody has, one behind the other from r9 on.
fn each_line(lines: u64, body: impl Fn(Program) -> Program) -> f64 {
    let run = |lines| {
        let program = Program::default().set(9, DATA).mark();
        program.rounds(lines, |p| body(p).op(M::Addi, &[9, 9, 128])).mark().cycles()
    };
    (run(2 * lines) - run(lines)) as f64 / lines as f64
}

/// A miss takes some 258 cycles, and twelve are under way at a time: however many touches there are, what they wait
/// for does not add up, and a load behind them has no part in it.
#[test]
fn touches_wait_for_places_among_the_misses_and_nobody_for_touches() {
    let touched = each_line(2000, |p| p.op(M::Dcbt, &[0, 9, 0]));
    assert!((touched - 258.0 / 12.0).abs() < 0.5, "{touched} cycles a touch");
    let load_behind = |lines| {
        let program = Program::default().set(9, DATA).set(10, DATA + (64 << 20));
        let touch = |p: Program| p.op(M::Dcbt, &[0, 9, 0]).op(M::Addi, &[9, 9, 128]);
        program.rounds(lines, touch).mark().op(M::Ld, &[5, 0, 10]).mark().cycles()
    };
    let [few, many] = [20, 2000].map(load_behind);
    assert!(many < few + 300, "a load behind 20 touches {few}, behind 2000 {many}");
}

/// What the caches do not hold is written to memory at its bandwidth, 120 GB/s, whoever makes it.
#[test]
fn lines_are_written_back_at_the_bandwidth_of_memory() {
    let zeroed = each_line(3 << 18, |p| p.op(M::Dcbz, &[0, 9]));
    let memory = 3.8e9 * 128.0 / 120e9;
    assert!((zeroed / memory - 1.0).abs() < 0.02, "{zeroed} cycles a line, not {memory}");
}
