//! Chasing pointers.

use crate::random::Random;

const STEPS: u32 = 1 << 18;

/// Makes one ring of all of memory in random order and goes along it, a fixed number of steps each
/// round; the checksum depends on the order of the places.
pub(crate) fn run(memory: &mut [u64], rounds: u32) -> u64 {
    lay(memory);
    let mut place = 0;
    let mut checksum: u64 = 0;
    for _ in 0..rounds {
        for _ in 0..STEPS {
            place = memory[place] as usize;
            checksum = checksum.rotate_left(1).wrapping_add(place as u64);
        }
    }
    checksum
}

/// Each place names the next; Sattolo's shuffle makes a single ring.
fn lay(ring: &mut [u64]) {
    for (place, next) in ring.iter_mut().enumerate() {
        *next = place as u64;
    }
    let mut random = Random::new(0x6368_6173);
    for last in (1..ring.len()).rev() {
        ring.swap(last, (random.next() % last as u64) as usize);
    }
}

#[cfg(test)]
mod tests {
    use super::lay;

    #[test]
    fn the_ring_visits_every_place_once() {
        let mut ring = vec![0; 1000];
        lay(&mut ring);
        let mut place = 0;
        for step in 1..=ring.len() {
            place = ring[place] as usize;
            assert_eq!(place == 0, step == ring.len(), "step {step}");
        }
    }
}
