//! Whether partitions find room in the machine's memory, before it boots.
//!
//! The hypervisor looks for room itself (`hypervisor/core/src/partition/load/mod.rs`); this goes the same way
//! on a machine whose firmware lies where ours does, so that what does not fit is said in the user's own words.

use std::ops::Range;

use object::{Object as _, ObjectSegment as _};
use simulator::Description;
use simulator::platform::layout;

use crate::size::Size;

/// The hypervisor's heap, as it has it, and what that is aligned to.
const HEAP_BYTES: u64 = 64 << 20;
const HEAP_LOG2: u32 = 21;
/// What partitions are aligned to, by their size: the sizes of pages. 1 GiB only where there is such room; one that has
/// whole 2 MiB is mapped by such pages.
const HUGE_LOG2: u32 = 30;
const LARGE_LOG2: u32 = 21;
const SMALL_LOG2: u32 = 16;

/// A partition that does not fit.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct NoRoom {
    /// Which one, from 0.
    pub index: usize,
    /// What is wrong and what would be right.
    pub text: String,
}

/// The ranges of a machine's memory that are free.
#[derive(Clone, PartialEq, Eq, Debug)]
struct Free(Vec<Range<u64>>);

impl Free {
    fn take_out(&mut self, taken: Range<u64>) {
        let parts = |range: Range<u64>| {
            let below = range.start..taken.start.clamp(range.start, range.end);
            let above = taken.end.clamp(range.start, range.end)..range.end;
            [below, above]
        };
        self.0 = std::mem::take(&mut self.0).into_iter().flat_map(parts).collect();
        self.0.retain(|range| !range.is_empty());
    }

    /// Takes the lowest place for so many bytes, if there is one.
    fn take(&mut self, bytes: u64, alignment_log2: u32) -> bool {
        let place = |range: &Range<u64>| {
            let start = range.start.next_multiple_of(1 << alignment_log2);
            (start.checked_add(bytes)? <= range.end).then_some(start)
        };
        let Some(start) = self.0.iter().find_map(place) else { return false };
        self.take_out(start..start + bytes);
        true
    }

    /// The most that a partition could have.
    fn most(&self) -> u64 {
        let unit = 1 << LARGE_LOG2;
        let length = |range: &Range<u64>| {
            (range.end / unit * unit).saturating_sub(range.start.next_multiple_of(unit))
        };
        self.0.iter().map(length).max().unwrap_or(0)
    }
}

/// Checks that there is room for partitions of so many bytes each, one after the other.
///
/// # Errors
/// The first that does not fit.
pub fn check(
    machine: &Description,
    hypervisor: &[u8],
    bundle_bytes: u64,
    partitions: &[u64],
) -> Result<(), NoRoom> {
    let memory = machine.memory();
    let mut free =
        Free(memory.iter().map(|region| region.base..region.base + region.bytes).collect());
    free.take_out(0..image_bytes(hypervisor));
    free.take_out(layout::FIRMWARE..layout::FIRMWARE + layout::FIRMWARE_BYTES);
    free.take_out(layout::INITRD..layout::INITRD + bundle_bytes);
    free.take(HEAP_BYTES, HEAP_LOG2);
    for (index, &bytes) in partitions.iter().enumerate() {
        let alignments: &[u32] = match bytes {
            _ if bytes >> HUGE_LOG2 != 0 => &[HUGE_LOG2, LARGE_LOG2],
            _ if bytes >> LARGE_LOG2 != 0 => &[LARGE_LOG2],
            _ => &[SMALL_LOG2],
        };
        if !alignments.iter().any(|&log2| free.take(bytes, log2)) {
            let others = match index {
                0 => "",
                _ => " and the partitions before it",
            };
            let text = format!(
                "the machine has {}, of which hypervisor, firmware{others} leave {} in one piece; give the partition \
                 no more than that, or the machine more memory",
                Size(machine.memory_bytes()),
                Size(free.most())
            );
            return Err(NoRoom { index, text: format!("{} do not fit: {text}", Size(bytes)) });
        }
    }
    Ok(())
}

/// What the hypervisor takes from real address 0 on.
fn image_bytes(hypervisor: &[u8]) -> u64 {
    let Ok(elf) = object::File::parse(hypervisor) else { return 0 };
    let start = elf.segments().map(|segment| segment.address()).min().unwrap_or(0);
    let ends = elf.segments().map(|segment| segment.address().saturating_add(segment.size()));
    ends.max().unwrap_or(0).saturating_sub(start)
}

#[cfg(test)]
mod tests {
    use super::{Free, check};
    use crate::machine_file::MachineFile;

    const MIB: u64 = 1 << 20;

    #[test]
    fn the_largest_piece_lies_above_firmware() {
        let machine = MachineFile::default().describe().unwrap();
        let check = |partitions: &[u64]| check(&machine, &[], 4096, partitions);
        // 2 GiB less 768 MiB below firmware and its 28.3 MiB, in whole 2 MiB.
        let most = (2048 - 768 - 30) * MIB;
        assert_eq!(check(&[most]), Ok(()));
        let refused = check(&[most + 0x1_0000]).unwrap_err();
        assert!(refused.text.contains("leave 1250 MiB in one piece"), "{}", refused.text);
        // And 640 MiB less the heap up to the bundle.
        assert_eq!(check(&[most, 576 * MIB]), Ok(()));
        assert_eq!(check(&[most, 576 * MIB, 126 * MIB, 2 * MIB]).unwrap_err().index, 3);
    }

    #[test]
    fn what_is_taken_is_free_no_more() {
        let mut free = Free(vec![0..10 * MIB, 12 * MIB..13 * MIB]);
        free.take_out(3 * MIB..4 * MIB);
        assert!(free.take(3 * MIB, 16) && !free.take(7 * MIB, 16));
        assert_eq!(free.0, [4 * MIB..10 * MIB, 12 * MIB..13 * MIB]);
        assert!(free.take(MIB, 21) && free.take(3 * MIB, 16));
        assert_eq!(free.most(), 2 * MIB);
    }
}
