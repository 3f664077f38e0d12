//! Factoring matrices of doubles into a lower and an upper triangle.
//!
//! The arithmetic is that of `rt::floating_point`: instructions in a partition, the host's own on a host.

use rt::floating_point::{add_multiples, quotient};

use crate::random::Random;

const SIDE: usize = 64;
const CELLS: usize = SIDE * SIDE;
/// The sign bit of a double.
const SIGN: u64 = 1 << 63;

/// Factors another matrix every round; the checksum weighs the cells of all factors with their place.
pub(crate) fn run(memory: &mut [u64], rounds: u32) -> u64 {
    let matrix = &mut memory[..CELLS];
    let mut random = Random::new(0x6661_6374);
    let mut checksum: u64 = 0;
    for _ in 0..rounds {
        fill(matrix, &mut random);
        factor(matrix);
        for cell in &*matrix {
            checksum = checksum.rotate_left(1).wrapping_add(*cell);
        }
    }
    checksum
}

/// Numbers from 1 to 2, and on the diagonal from 256 to 512: more than the rest of the row, so that no
/// pivot comes near zero.
fn fill(matrix: &mut [u64], random: &mut Random) {
    random.fill(matrix);
    for (place, cell) in matrix.iter_mut().enumerate() {
        let exponent = if place.is_multiple_of(SIDE + 1) { 8 } else { 0 };
        *cell = *cell >> 12 | (1023 + exponent) << 52;
    }
}

/// Below the diagonal the matrix becomes the lower factor, whose diagonal is 1, and above it the upper.
fn factor(matrix: &mut [u64]) {
    for pivot in 0..SIDE {
        let (above, below) = matrix.split_at_mut((pivot + 1) * SIDE);
        let row = &above[pivot * SIDE + pivot..];
        for other in below.chunks_exact_mut(SIDE) {
            let other = &mut other[pivot..];
            other[0] = quotient(other[0], row[0]);
            let negated = other[0] ^ SIGN;
            add_multiples(&mut other[1..], negated, &row[1..]);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{CELLS, SIDE, factor, fill};
    use crate::random::Random;

    #[test]
    fn the_product_of_the_factors_is_the_matrix() {
        let mut before = vec![0; CELLS];
        fill(&mut before, &mut Random::new(7));
        let mut factors = before.clone();
        factor(&mut factors);
        let number =
            |cells: &[u64], row: usize, column: usize| f64::from_bits(cells[row * SIDE + column]);
        for (row, column) in [(0, 0), (5, 60), (60, 5), (63, 63), (31, 32)] {
            let last = row.min(column);
            let lower = |k: usize| if k == row { 1.0 } else { number(&factors, row, k) };
            let product: f64 = (0..=last).map(|k| lower(k) * number(&factors, k, column)).sum();
            let expected = number(&before, row, column);
            assert!((product - expected).abs() < 1e-9 * expected.abs(), "{row} {column}");
        }
    }
}
