//! SHA-256.

use sha2::{Digest, Sha256};

use crate::random::Random;

const WORDS: usize = 1 << 12;

/// Hashes the same 32 KiB every round, each time after the hash of the round before.
pub(crate) fn run(memory: &mut [u64], rounds: u32) -> u64 {
    let words = &mut memory[..WORDS];
    Random::new(0x6861_7368).fill(words);
    let mut hash = [0; 32];
    for _ in 0..rounds {
        let mut hasher = Sha256::new();
        hasher.update(hash);
        for words in words.chunks_exact(8) {
            let mut block = [0; 64];
            for (bytes, word) in block.chunks_exact_mut(8).zip(words) {
                bytes.copy_from_slice(&word.to_le_bytes());
            }
            hasher.update(block);
        }
        hash = hasher.finalize().into();
    }
    let (first, _) = hash.split_first_chunk().expect("a hash is longer than a doubleword");
    u64::from_be_bytes(*first)
}
