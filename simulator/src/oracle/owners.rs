//! Whose tagged values are ([`arch::tag`]): a tag is the partition's that had several values with it at once.
//!
//! One value may look like a tagged one by chance: in a storm of 12,000 million instructions two partitions each had a
//! random number with the same tag, which no payload used.

use std::collections::{BTreeMap, BTreeSet};

use arch::tag;

/// Different values with one tag that a partition has at once when it fills its registers, and never by chance.
const SEVERAL: usize = 3;

/// Whose the tags are that have been seen.
#[derive(Clone, Default, Debug)]
pub(super) struct Owners {
    /// LPID by tag.
    lpids: BTreeMap<u8, u32>,
}

impl Owners {
    /// Learns whose tags are from the registers of the partition `lpid`: those that hold another one's value, by their
    /// places in `values`, each with the LPID of the other one. Places without a value are not looked at.
    pub(super) fn foreign(
        &mut self,
        lpid: u32,
        values: impl Iterator<Item = Option<u64>>,
    ) -> Vec<(usize, u32)> {
        let places = values.enumerate();
        let tagged = places.filter_map(|(place, value)| Some((place, value?, tag::owner(value?)?)));
        let tagged: Vec<(usize, u64, u8)> = tagged.collect();
        let mut unknown = BTreeMap::<u8, BTreeSet<u64>>::new();
        for (_, value, tag) in tagged.iter().filter(|(_, _, tag)| !self.lpids.contains_key(tag)) {
            unknown.entry(*tag).or_default().insert(*value);
        }
        let known = unknown.into_iter().filter(|(_, values)| values.len() >= SEVERAL);
        self.lpids.extend(known.map(|(tag, _)| (tag, lpid)));
        let owners =
            tagged.iter().filter_map(|(place, _, tag)| Some((*place, *self.lpids.get(tag)?)));
        owners.filter(|(_, owner)| *owner != lpid).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::Owners;
    use arch::tag::tagged;

    fn foreign(owners: &mut Owners, lpid: u32, values: &[u64]) -> Vec<(usize, u32)> {
        owners.foreign(lpid, values.iter().copied().map(Some))
    }

    #[test]
    fn a_tag_is_whose_registers_are_full_of_it() {
        let mut owners = Owners::default();
        assert_eq!(foreign(&mut owners, 1, &[tagged(7, 1), tagged(7, 2), tagged(7, 3)]), []);
        assert_eq!(foreign(&mut owners, 2, &[0, tagged(7, 4), 5, tagged(7, 1)]), [(1, 1), (3, 1)]);
        // Many at once change nothing any more.
        let many = [1, 2, 3, 4].map(|value| tagged(7, value));
        assert_eq!(foreign(&mut owners, 2, &many).len(), many.len());
        assert_eq!(foreign(&mut owners, 1, &many), []);
    }

    #[test]
    fn a_value_that_looks_tagged_by_chance_is_nobodys() {
        let mut owners = Owners::default();
        // Copies of one value are one.
        assert_eq!(
            foreign(&mut owners, 2, &[tagged(0xB1, 1), tagged(0xB1, 1), tagged(0xB1, 1)]),
            []
        );
        assert_eq!(foreign(&mut owners, 1, &[tagged(0xB1, 2), tagged(0xB1, 3)]), []);
        assert_eq!(foreign(&mut owners, 3, &[tagged(0xB1, 4)]), []);
    }

    #[test]
    fn what_a_partition_cannot_see_tells_nothing() {
        let mut owners = Owners::default();
        let values = [Some(tagged(7, 1)), Some(tagged(7, 2)), None, None];
        assert_eq!(owners.foreign(1, values.into_iter()), []);
        assert_eq!(foreign(&mut owners, 2, &[tagged(7, 3)]), []);
    }
}
