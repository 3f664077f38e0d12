//! `/cpus`: a node for each core, and the caches behind it.
//!
//! Source: `docs/facts/opal-and-powernv.md#firmwares-tree`; caches as skiboot's `hdata/cpu-common.c` has them
//! for POWER9, where two cores share L2 and L3, which those of POWER8 have for themselves; sizes from
//! `docs/facts/power9-memory.md#caches`.

use arch::hash::{LARGE_PAGES, PageSize, base_code};
use arch::processor::RadixPage;

use super::{FIRST_CACHE_HANDLE, Node, PerProcessor, features, per_processor, pirs};
use crate::description::Description;

/// The PIRs of threads that share a second and third-level cache differ in these bits: those of two cores of POWER9, of
/// one of POWER8.
const PAIR: u32 = 7;
const LINE_BYTES: u32 = 128;

/// A cache that such threads share.
struct Cache {
    name: &'static str,
    /// Top byte of the unit address; the PIR is below.
    kind: u32,
    bytes: u32,
    ways: u32,
}

const L2: Cache = Cache { name: "l2-cache", kind: 0x20, bytes: 512 << 10, ways: 8 };

fn l3(own: &PerProcessor) -> Cache {
    let (bytes, ways) = own.l3;
    Cache { name: "l3-cache", kind: 0x30, bytes, ways }
}

pub(super) fn node(description: &Description) -> Node {
    let (_, _, threads) = description.topology();
    let own = per_processor(description);
    let mut node = Node::new("cpus").cells("#address-cells", &[1]).cells("#size-cells", &[0]);
    let mut pairs = Vec::new();
    for core in pirs(description).chunks(threads as usize) {
        let pair = core[0] & !PAIR;
        if !pairs.contains(&pair) {
            pairs.push(pair);
        }
        node = node.child(core_node(description, core));
    }
    for pair in pairs {
        let next = Some(l3_handle(pair));
        node = node.child(L2.node(pair, l2_handle(pair), next)).child(l3(own).node(
            pair,
            l3_handle(pair),
            None,
        ));
    }
    node.child(features::node(description))
}

/// The threads of `core` have these PIRs.
fn core_node(description: &Description, core: &[u32]) -> Node {
    let clock = description.clock();
    let facts = description.processor().facts();
    let own = per_processor(description);
    let pir = core[0];
    let node = Node::new(format!("PowerPC,{}@{pir:x}", facts.name))
        .text("device_type", "cpu")
        .text("status", "okay")
        .cells("reg", &[pir])
        .cells("ibm,pir", &[pir])
        .cells("ibm,chip-id", &[facts.pir.chip(pir)])
        .cells("ibm,ppc-interrupt-server#s", core)
        .cells("cpu-version", &[facts.at_power_on.pvr])
        .flag("64-bit")
        .cells("timebase-frequency", &[clock.timebase_hz as u32])
        .doublewords("ibm,extended-clock-frequency", &[clock.core_hz])
        .cells("clock-frequency", &[u32::try_from(clock.core_hz).unwrap_or(u32::MAX)])
        .bytes("ibm,pa-features", options(own))
        .cells("ibm,dec-bits", &[facts.decrementer_bits])
        .cells("ibm,slb-size", &[facts.slb_entries as u32])
        .cells("d-cache-block-size", &[LINE_BYTES])
        .cells("i-cache-block-size", &[LINE_BYTES])
        .cells("d-cache-line-size", &[LINE_BYTES])
        .cells("i-cache-line-size", &[LINE_BYTES])
        .cells("d-cache-size", &[own.l1_data_bytes])
        .cells("i-cache-size", &[0x8000])
        .cells("l2-cache", &[l2_handle(pir & !PAIR)]);
    let node = match facts.radix_pages {
        [] => node,
        pages => node.cells("ibm,processor-radix-AP-encodings", &radix_pages(pages)),
    };
    node.cells("ibm,processor-segment-sizes", &[28, 40, u32::MAX, u32::MAX])
        .cells("ibm,segment-page-sizes", &segment_page_sizes())
}

/// log2 of each page size, and in the top three bits its code.
fn radix_pages(pages: &[RadixPage]) -> Vec<u32> {
    pages.iter().map(|page| page.code << 29 | page.bytes_log2).collect()
}

/// The pages of hashed translation: for each base page size log2, its code in the SLB, how many actual sizes it has,
/// and of each log2 and the code in the page table.
fn segment_page_sizes() -> Vec<u32> {
    let small = PageSize { base_log2: 12, actual_log2: 12, code: 0 };
    let sizes: Vec<PageSize> = [small].into_iter().chain(LARGE_PAGES).collect();
    let bases = sizes.chunk_by(|one, other| one.base_log2 == other.base_log2);
    bases
        .flat_map(|pages| {
            let base_log2 = pages[0].base_log2;
            let base = [base_log2, base_code(base_log2) as u32, pages.len() as u32];
            let actual = pages.iter().flat_map(|page| [page.actual_log2, page.code as u32]);
            base.into_iter().chain(actual).collect::<Vec<_>>()
        })
        .collect()
}

/// Pairs are 8 PIRs apart.
fn l2_handle(pair: u32) -> u32 {
    FIRST_CACHE_HANDLE + pair / 4
}

fn l3_handle(pair: u32) -> u32 {
    l2_handle(pair) + 1
}

impl Cache {
    /// The cache of a pair of cores; `next` is the level behind it.
    fn node(&self, pair: u32, handle: u32, next: Option<u32>) -> Node {
        let unit = self.kind << 24 | pair;
        // skiboot gives L3 as many sets as L2; these are its own.
        let sets = self.bytes / self.ways / LINE_BYTES;
        let node = Node::new(format!("{}@{unit:x}", self.name))
            .text("device_type", "cache")
            .cells("reg", &[unit])
            .text("status", "okay")
            .flag("cache-unified")
            .cells("d-cache-sets", &[sets])
            .cells("i-cache-sets", &[sets])
            .cells("d-cache-size", &[self.bytes])
            .cells("i-cache-size", &[self.bytes])
            .cells("phandle", &[handle]);
        match next {
            Some(next) => node.cells("l2-cache", &[next]),
            None => node,
        }
    }
}

/// `ibm,pa-features`: how many bytes, then the bytes.
fn options(own: &PerProcessor) -> Vec<u8> {
    let (options, count) = own.options;
    let mut value = vec![0; 2 + count];
    value[0] = count as u8;
    for (byte, bits) in options {
        value[2 + byte] = *bits;
    }
    value
}

#[cfg(test)]
mod tests {
    use super::super::tests::{cells, description_with, tree};

    #[test]
    fn the_pages_of_hashed_translation_are_those_that_skiboot_lists() {
        let flat = tree(&description_with(1, 1, 1));
        let sizes = cells(&flat, "/cpus/PowerPC,POWER9@0", "ibm,segment-page-sizes");
        let expected = [
            [12, 0, 3, 12, 0, 16, 7, 24, 0x38].as_slice(),
            &[16, 0x110, 2, 16, 1, 24, 8],
            &[24, 0x100, 1, 24, 0],
            &[34, 0x120, 1, 34, 3],
        ];
        assert_eq!(sizes, expected.concat());
    }

    #[test]
    fn two_cores_share_the_caches_behind_them() {
        let flat = tree(&description_with(1, 3, 4));
        let l2 = |core: &str| cells(&flat, &format!("/cpus/PowerPC,POWER9@{core}"), "l2-cache");
        assert_eq!(l2("0"), l2("4"));
        assert_ne!(l2("0"), l2("8"));
        for (unit, core) in [("20000000", "0"), ("20000008", "8")] {
            let node = format!("/cpus/l2-cache@{unit}");
            assert_eq!(cells(&flat, &node, "phandle"), l2(core));
            assert_eq!(cells(&flat, &node, "d-cache-size"), [0x8_0000]);
            let l3 = format!("/cpus/l3-cache@3{}", &unit[1..]);
            assert_eq!(cells(&flat, &node, "l2-cache"), cells(&flat, &l3, "phandle"));
            assert_eq!(cells(&flat, &l3, "d-cache-size"), [0xA0_0000]);
            assert_eq!(cells(&flat, &node, "d-cache-sets"), [512]);
            assert_eq!(cells(&flat, &l3, "d-cache-sets"), [4096]);
        }
        let two_chips = tree(&description_with(2, 1, 1));
        assert_eq!(cells(&two_chips, "/cpus/PowerPC,POWER9@100", "ibm,chip-id"), [1]);
        assert_eq!(cells(&flat, "/cpus/PowerPC,POWER9@8", "ibm,chip-id"), [0]);
        let servers = cells(&flat, "/cpus/PowerPC,POWER9@8", "ibm,ppc-interrupt-server#s");
        assert_eq!(servers, [8, 9, 10, 11]);
    }
}
