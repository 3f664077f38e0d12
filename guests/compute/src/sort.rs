//! Sorting random doublewords.

use crate::random::Random;

const NUMBERS: usize = 1 << 14;

/// Sorts new numbers every round; the checksum weighs each number with its place.
pub(crate) fn run(memory: &mut [u64], rounds: u32) -> u64 {
    let numbers = &mut memory[..NUMBERS];
    let mut random = Random::new(0x736F_7274);
    let mut checksum: u64 = 0;
    for _ in 0..rounds {
        random.fill(numbers);
        numbers.sort_unstable();
        for (place, number) in (1..).zip(&*numbers) {
            checksum = checksum.wrapping_add(number.wrapping_mul(place));
        }
    }
    checksum
}

#[cfg(test)]
mod tests {
    use super::{NUMBERS, run};

    #[test]
    fn memory_ends_in_order() {
        let mut memory = vec![0; NUMBERS];
        let _ = run(&mut memory, 1);
        assert!(memory.is_sorted());
        assert_ne!(memory[0], memory[NUMBERS - 1]);
    }
}
