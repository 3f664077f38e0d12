//! Multiplying matrices of doublewords, modulo 2^64.

use crate::random::Random;

const SIDE: usize = 64;
const CELLS: usize = SIDE * SIDE;

/// Multiplies a matrix by another every round; the checksum adds up the last product.
pub(crate) fn run(memory: &mut [u64], rounds: u32) -> u64 {
    let (left, memory) = memory.split_at_mut(CELLS);
    let (right, memory) = memory.split_at_mut(CELLS);
    let product = &mut memory[..CELLS];
    let mut random = Random::new(0x6D61_7472);
    random.fill(left);
    // Odd numbers on the diagonal and even ones elsewhere: no product loses what the left one held.
    random.fill(right);
    for (cell, value) in right.iter_mut().enumerate() {
        *value = *value << 1 | u64::from(cell % (SIDE + 1) == 0);
    }
    for _ in 0..rounds {
        multiply(left, right, product);
        left.copy_from_slice(product);
    }
    left.iter().fold(0, |sum, cell| sum.rotate_left(1).wrapping_add(*cell))
}

fn multiply(left: &[u64], right: &[u64], product: &mut [u64]) {
    for (row, product) in left.chunks_exact(SIDE).zip(product.chunks_exact_mut(SIDE)) {
        for (column, cell) in product.iter_mut().enumerate() {
            let column = right[column..].iter().step_by(SIDE);
            *cell = row
                .iter()
                .zip(column)
                .fold(0, |sum: u64, (a, b)| sum.wrapping_add(a.wrapping_mul(*b)));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{CELLS, SIDE, multiply};

    #[test]
    fn a_cell_is_the_product_of_its_row_and_column() {
        let left: Vec<u64> = (0..CELLS as u64).collect();
        let right: Vec<u64> = (0..CELLS as u64).map(|cell| cell * cell).collect();
        let mut product = vec![0; CELLS];
        multiply(&left, &right, &mut product);
        for (row, column) in [(0, 0), (3, 17), (63, 63)] {
            let cells = (0..SIDE).map(|i| left[row * SIDE + i] * right[i * SIDE + column]);
            assert_eq!(product[row * SIDE + column], cells.sum::<u64>(), "{row} {column}");
        }
    }
}
