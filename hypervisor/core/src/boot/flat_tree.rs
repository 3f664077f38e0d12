//! Writes a flattened device tree from front to back: Devicetree Specification 0.4, version 17.
//!
//! A partition's tree is written each time that it starts. A model in memory, which the library that reads
//! firmware's tree has, takes many times as long (`experiments/partition-start.toml`), and so does the writer of
//! `vm-fdt`: `docs/decisions/0008-libraries-and-what-is-ours.md`.

use alloc::vec::Vec;

const MAGIC: u32 = 0xD00D_FEED;
const VERSION: u32 = 17;
const OLDEST_READER: u32 = 16;
const HEADER_BYTES: usize = 40;
/// Bytes of a reservation: where memory begins that is to stay as it is, and how many bytes.
const RESERVATION_BYTES: usize = 16;
/// The list of reservations: room for one, and its end, a reservation of nothing.
const RESERVATIONS_BYTES: usize = 2 * RESERVATION_BYTES;

const BEGIN_NODE: u32 = 1;
const END_NODE: u32 = 2;
const PROPERTY: u32 = 3;
const END: u32 = 9;

/// Names that are remembered: of a processor's, which repeat, few meet.
const KNOWN: usize = 64;

/// What a property can hold.
pub trait Value {
    /// Appends it.
    fn put(&self, to: &mut Vec<u8>);
}

impl Value for u32 {
    fn put(&self, to: &mut Vec<u8>) {
        to.extend_from_slice(&self.to_be_bytes());
    }
}

impl Value for u64 {
    fn put(&self, to: &mut Vec<u8>) {
        to.extend_from_slice(&self.to_be_bytes());
    }
}

impl Value for [u8] {
    fn put(&self, to: &mut Vec<u8>) {
        to.extend_from_slice(self);
    }
}

impl Value for str {
    fn put(&self, to: &mut Vec<u8>) {
        to.extend_from_slice(self.as_bytes());
        to.push(0);
    }
}

impl<const CELLS: usize> Value for [u32; CELLS] {
    fn put(&self, to: &mut Vec<u8>) {
        self.iter().for_each(|cell| cell.put(to));
    }
}

impl Value for [&str] {
    fn put(&self, to: &mut Vec<u8>) {
        self.iter().for_each(|text| text.put(to));
    }
}

/// Doublewords, of which a function has the list.
#[derive(Debug)]
pub struct Words<F>(pub F);

impl<I: Iterator<Item = u64>, F: Fn() -> I> Value for Words<F> {
    fn put(&self, to: &mut Vec<u8>) {
        (self.0)().for_each(|word| word.put(to));
    }
}

/// Makes `bytes` from `start` on, addresses of whoever reads the tree, the one thing that the finished `tree` reserves.
pub fn reserve(tree: &mut [u8], start: u64, bytes: u64) {
    let reservation = &mut tree[HEADER_BYTES..HEADER_BYTES + RESERVATION_BYTES];
    for (place, word) in reservation.chunks_exact_mut(8).zip([start, bytes]) {
        place.copy_from_slice(&word.to_be_bytes());
    }
}

/// A tree that is being written, with its root open.
#[derive(Debug)]
pub struct FlatTree {
    bytes: Vec<u8>,
    names: Vec<u8>,
    /// Names that were written last, and where; found by their addresses, so that one may be there several times.
    known: [Option<(&'static str, u32)>; KNOWN],
}

impl FlatTree {
    /// An empty tree, with room for so many bytes before it has to grow.
    #[must_use]
    pub fn with_capacity(bytes: usize) -> Self {
        Self::within(Vec::with_capacity(bytes))
    }

    /// An empty tree with room for so many bytes, if the heap has that.
    #[must_use]
    pub fn with_room(bytes: usize) -> Option<Self> {
        let mut room = Vec::new();
        room.try_reserve_exact(bytes).ok()?;
        Some(Self::within(room))
    }

    fn within(bytes: Vec<u8>) -> Self {
        let mut tree = Self { bytes, names: Vec::with_capacity(1024), known: [None; KNOWN] };
        tree.bytes.resize(HEADER_BYTES + RESERVATIONS_BYTES, 0);
        tree.begin("");
        tree
    }

    fn pad(&mut self) {
        self.bytes.resize(self.bytes.len().next_multiple_of(4), 0);
    }

    /// Begins a node within the one that is open.
    pub fn begin(&mut self, name: &str) {
        BEGIN_NODE.put(&mut self.bytes);
        name.put(&mut self.bytes);
        self.pad();
    }

    /// Ends the node that is open.
    pub fn end(&mut self) {
        END_NODE.put(&mut self.bytes);
    }

    /// Adds a property to the node that is open, before its children: where its value lies in the tree.
    pub fn add(&mut self, name: &'static str, value: &(impl Value + ?Sized)) -> usize {
        let name = self.name(name);
        [PROPERTY, 0, name].put(&mut self.bytes);
        let start = self.bytes.len();
        value.put(&mut self.bytes);
        let bytes = (self.bytes.len() - start) as u32;
        self.bytes[start - 8..start - 4].copy_from_slice(&bytes.to_be_bytes());
        self.pad();
        start
    }

    fn name(&mut self, name: &'static str) -> u32 {
        let known = &mut self.known[(name.as_ptr() as usize + name.len()) % KNOWN];
        if let Some((_, offset)) = known.filter(|(known, _)| core::ptr::eq(*known, name)) {
            return offset;
        }
        let offset = self.names.len() as u32;
        name.put(&mut self.names);
        *known = Some((name, offset));
        offset
    }

    /// The whole tree, which reserves nothing; all nodes but the root were ended.
    #[must_use]
    pub fn finish(mut self) -> Vec<u8> {
        self.end();
        END.put(&mut self.bytes);
        let names = self.bytes.len();
        self.bytes.extend_from_slice(&self.names);
        let structure = HEADER_BYTES + RESERVATIONS_BYTES;
        let header = [
            MAGIC,
            self.bytes.len() as u32,
            structure as u32,
            names as u32,
            HEADER_BYTES as u32,
            VERSION,
            OLDEST_READER,
            0, // the processor that boots
            self.names.len() as u32,
            (names - structure) as u32,
        ];
        for (place, word) in self.bytes.chunks_exact_mut(4).zip(header) {
            place.copy_from_slice(&word.to_be_bytes());
        }
        self.bytes
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use std::string::ToString;
    use std::vec::Vec;

    use dtoolkit::fdt::Fdt;
    use dtoolkit::{Node, Property};

    use super::{FlatTree, reserve};

    #[test]
    fn what_the_heap_has_not_is_no_room() {
        assert!(FlatTree::with_room(1 << 16).is_some());
        assert!(FlatTree::with_room(isize::MAX as usize).is_none());
    }

    #[test]
    fn what_is_written_is_read_by_another_reader() {
        // From no capacity: it grows.
        let mut tree = FlatTree::with_capacity(0);
        tree.add("first", &1u32);
        tree.add("text", "four");
        tree.begin("child@1");
        tree.add("empty", &[0u8; 0][..]);
        tree.add("bytes", &[1u8, 2, 3, 4, 5][..]);
        tree.begin("grandchild");
        let place = tree.add("first", &0x1234_5678_9ABC_DEF0u64);
        tree.end();
        tree.end();
        tree.begin("last");
        tree.add("list", &["a", "bc"][..]);
        tree.add("cells", &[1u32, 2, 3]);
        tree.end();
        let mut bytes = tree.finish();
        assert_eq!(bytes[place..place + 8], 0x1234_5678_9ABC_DEF0u64.to_be_bytes());

        assert_eq!(Fdt::new(&bytes).unwrap().memory_reservations().count(), 0);
        reserve(&mut bytes, 0x1_2345_6780, 20);
        let tree = Fdt::new(&bytes).unwrap();
        let reserved: Vec<_> =
            tree.memory_reservations().map(|it| (it.address(), it.size())).collect();
        assert_eq!(reserved, [(0x1_2345_6780, 20)]);
        let children: Vec<_> = tree.root().children().map(|node| node.name().to_string()).collect();
        assert_eq!(children, ["child@1", "last"]);
        let value = |path: &str, name: &str| {
            tree.find_node(path).unwrap().property(name).unwrap().value().to_vec()
        };
        assert_eq!(value("/", "first"), [0, 0, 0, 1]);
        assert_eq!(value("/", "text"), b"four\0");
        assert_eq!(value("/child@1", "empty"), []);
        assert_eq!(value("/child@1", "bytes"), [1, 2, 3, 4, 5]);
        assert_eq!(value("/child@1/grandchild", "first").len(), 8);
        assert_eq!(value("/last", "list"), b"a\0bc\0");
        assert_eq!(value("/last", "cells"), [0, 0, 0, 1, 0, 0, 0, 2, 0, 0, 0, 3]);
    }
}
