//! The device tree that firmware passes: what the hypervisor reads of it, without allocation.
//!
//! Source: `docs/facts/opal-and-powernv.md#what-a-hypervisor-reads`.

use arch::address::RealAddress;
use arch::opal::idle;
use arch::registers::psscr;
use dtoolkit::error::{FdtErrorKind, FdtParseError};
use dtoolkit::fdt::{Fdt, FdtNode};
use dtoolkit::{Node, Property};

use crate::memory::Range;

/// What is wrong with firmware's device tree.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum FirmwareError {
    /// It is not a flattened device tree, or a damaged one.
    NotATree(FdtParseError),
    /// A node or property that the hypervisor cannot do without.
    Missing(&'static str),
}

impl core::fmt::Display for FirmwareError {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        match self {
            Self::NotATree(error) => write!(f, "it is not a valid flattened device tree: {error}"),
            Self::Missing(what) => write!(f, "it has no {what}"),
        }
    }
}

/// A hardware thread.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct HardwareThread {
    /// Its number to firmware and to doorbells: PIR.
    pub server: u32,
    /// Its core, counted from 0.
    pub core: u32,
}

/// A state of `stop`, as firmware tells of it.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct IdleState<'a> {
    /// Its name.
    pub name: &'a str,
    /// Nanoseconds that it takes to leave.
    pub latency_ns: u32,
    /// Nanoseconds of sleep from which on it is worth it.
    pub residency_ns: u32,
    /// PSSCR with which `stop` reaches it.
    pub psscr: u64,
}

/// Firmware's device tree.
#[derive(Clone, Copy, Debug)]
pub struct Firmware<'a> {
    tree: Fdt<'a>,
    /// Where the tree itself lies.
    range: Range,
}

impl<'a> Firmware<'a> {
    /// Reads the tree that lies at `address` and has the bytes `data`.
    ///
    /// OPAL's own trees have names longer than the 31 characters of the Devicetree Specification
    /// (below `ibm,powerpc-cpu-features`), so a name alone does not make a tree a bad one. Firmware
    /// is trusted with the rest: what comes behind such a name is not checked beforehand.
    ///
    /// # Errors
    /// [`FirmwareError::NotATree`].
    pub fn new(data: &'a [u8], address: RealAddress) -> Result<Self, FirmwareError> {
        let tree = Fdt::new(data).or_else(|error| match error.kind {
            FdtErrorKind::InvalidNodeName | FdtErrorKind::InvalidPropertyName => {
                Ok(Fdt::new_unchecked(data))
            }
            _ => Err(FirmwareError::NotATree(error)),
        })?;
        Ok(Self { tree, range: Range { start: address, bytes: data.len() as u64 } })
    }

    /// The blocks of memory.
    pub fn memory(&self) -> impl Iterator<Item = Range> + use<'a> {
        self.tree
            .root()
            .children()
            .filter(|node| string(node, "device_type") == Some("memory"))
            .flat_map(|node| ranges(&node))
    }

    /// Everything that is not to be touched: the three lists of reservations, the tree, the initrd.
    pub fn reserved(&self) -> impl Iterator<Item = Range> + use<'a> {
        let map = self.tree.memory_reservations();
        let nodes = self.tree.find_node("/reserved-memory").into_iter();
        let root = doublewords(&self.tree.root(), "reserved-ranges");
        map.map(|entry| Range::new(entry.address(), entry.size()))
            .chain(nodes.flat_map(|node| node.children()).flat_map(|node| ranges(&node)))
            .chain(root.map(|[start, bytes]| Range::new(start, bytes)))
            .chain([self.range])
            .chain(self.initrd())
    }

    /// The initrd: the bundle of partitions.
    #[must_use]
    pub fn initrd(&self) -> Option<Range> {
        let chosen = self.tree.find_node("/chosen")?;
        let start = number(&chosen, "linux,initrd-start")?;
        let end = number(&chosen, "linux,initrd-end")?;
        Some(Range::new(start, end.checked_sub(start)?))
    }

    /// OPAL's base and entry.
    ///
    /// # Errors
    /// [`FirmwareError::Missing`].
    pub fn opal(&self) -> Result<(u64, u64), FirmwareError> {
        let node = self.tree.find_node("/ibm,opal").ok_or(FirmwareError::Missing("/ibm,opal"))?;
        let base = number(&node, "opal-base-address");
        let entry = number(&node, "opal-entry-address");
        base.zip(entry).ok_or(FirmwareError::Missing("opal-base-address and opal-entry-address"))
    }

    /// The node of the first processor.
    ///
    /// # Errors
    /// [`FirmwareError::Missing`].
    pub fn processor(&self) -> Result<FdtNode<'a>, FirmwareError> {
        self.tree
            .find_node("/cpus")
            .and_then(|node| node.children().find(|cpu| string(cpu, "device_type") == Some("cpu")))
            .ok_or(FirmwareError::Missing("processor below /cpus"))
    }

    /// The hardware threads of all processors that are usable.
    pub fn threads(&self) -> impl Iterator<Item = HardwareThread> + use<'a> {
        let cpus = self.tree.find_node("/cpus").into_iter().flat_map(|node| node.children());
        let is_usable = |cpu: &FdtNode<'a>| {
            string(cpu, "device_type") == Some("cpu")
                && string(cpu, "status").is_none_or(|status| status == "okay")
        };
        (0..).zip(cpus.filter(is_usable)).flat_map(|(core, cpu)| {
            let servers =
                cpu.property("ibm,ppc-interrupt-server#s").or_else(|| cpu.property("reg"));
            let bytes: &'a [u8] = servers.and_then(|list| list.value_as().ok()).unwrap_or(&[]);
            bytes
                .as_chunks()
                .0
                .iter()
                .map(move |server| HardwareThread { server: u32::from_be_bytes(*server), core })
        })
    }

    /// Where the registers lie by which the hardware thread `server` reaches the interrupt controller, if it does by
    /// such. Source: `docs/facts/power8.md#interrupt-presentation`.
    #[must_use]
    pub fn presentation(&self, server: u32) -> Option<RealAddress> {
        let is_presentation = |node: &FdtNode<'a>| {
            let names = node.property("compatible");
            let mut names = names.iter().flat_map(|names| names.value().split(|byte| *byte == 0));
            names.any(|name| name == b"IBM,ppc-xicp")
        };
        self.tree.root().children().filter(is_presentation).find_map(|node| {
            let range = bytes(&node, "ibm,interrupt-server-ranges")?.as_chunks().0;
            let [first, count] = range.first_chunk()?.map(u32::from_be_bytes);
            let place = server.checked_sub(first).filter(|place| *place < count)?;
            ranges(&node).nth(place as usize).map(|registers| registers.start)
        })
    }

    /// The states of `stop` that firmware tells of; where its lists differ in length, those that all of them have.
    pub fn idle_states(&self) -> impl Iterator<Item = IdleState<'a>> + use<'a> {
        let node = self.tree.find_node("/ibm,opal/power-mgt");
        let list = |name| node.and_then(|node| bytes(&node, name)).unwrap_or(&[]);
        let cells = |name| list(name).as_chunks().0.iter().map(|cell| u32::from_be_bytes(*cell));
        let names = list("ibm,cpu-idle-state-names").split(|byte| *byte == 0);
        let names = names.map(|name| core::str::from_utf8(name).unwrap_or(""));
        let latencies = cells("ibm,cpu-idle-state-latencies-ns");
        let residencies = cells("ibm,cpu-idle-state-residency-ns");
        let values = list("ibm,cpu-idle-state-psscr").as_chunks().0.iter();
        let values = values.map(|value| u64::from_be_bytes(*value));
        names.zip(latencies).zip(residencies).zip(values).map(
            |(((name, latency_ns), residency_ns), psscr)| IdleState {
                name,
                latency_ns,
                residency_ns,
                psscr,
            },
        )
    }

    /// PSSCR for the deepest `stop` that loses no state, of those that firmware tells of.
    #[must_use]
    pub fn idle_psscr(&self) -> Option<u64> {
        self.idle_states()
            .map(|state| state.psscr)
            .filter(|value| value & (psscr::ESL | psscr::EC) == 0)
            .max_by_key(|value| psscr::RL.get(*value))
    }

    /// Whether firmware tells of a state that `nap` reaches.
    #[must_use]
    pub fn tells_of_nap(&self) -> bool {
        let node = self.tree.find_node("/ibm,opal/power-mgt");
        let flags = node.and_then(|node| bytes(&node, "ibm,cpu-idle-state-flags")).unwrap_or(&[]);
        flags.as_chunks().0.iter().any(|flags| u32::from_be_bytes(*flags) & idle::NAP != 0)
    }

    /// Whether firmware tells of features against speculation.
    #[must_use]
    pub fn tells_of_features(&self) -> bool {
        self.tree.find_node("/ibm,opal/fw-features").is_some()
    }

    /// Whether firmware says that a feature is in a state, `enabled` or `disabled`.
    #[must_use]
    pub fn has_feature(&self, state: &str, feature: &str) -> bool {
        let features = self.tree.find_node("/ibm,opal/fw-features");
        let node = features.and_then(|node| node.children().find(|node| node.name() == feature));
        node.is_some_and(|node| node.property(state).is_some())
    }

    /// Whether the machine withholds from a guest what HFSCR does not give it. QEMU does not.
    #[must_use]
    pub fn withholds_facilities(&self) -> bool {
        let names = self.tree.root().property("compatible");
        !names.is_some_and(|names| names.value().starts_with(b"qemu,"))
    }

    /// Ticks of the time base in a second.
    ///
    /// # Errors
    /// [`FirmwareError::Missing`].
    pub fn timebase_frequency(&self) -> Result<u64, FirmwareError> {
        number(&self.processor()?, "timebase-frequency")
            .filter(|frequency| *frequency > 0)
            .ok_or(FirmwareError::Missing("timebase-frequency"))
    }

    /// Bytes of memory in all blocks.
    #[must_use]
    pub fn memory_bytes(&self) -> u64 {
        self.memory().fold(0, |sum, block| sum.saturating_add(block.bytes))
    }
}

/// A property of one or two cells.
fn number(node: &FdtNode<'_>, name: &str) -> Option<u64> {
    let property = node.property(name)?;
    property.value_as::<u64>().or_else(|_| property.value_as::<u32>().map(u64::from)).ok()
}

fn bytes<'a>(node: &FdtNode<'a>, name: &str) -> Option<&'a [u8]> {
    node.property(name)?.value_as().ok()
}

fn string<'a>(node: &FdtNode<'a>, name: &str) -> Option<&'a str> {
    node.property(name)?.value_as::<&str>().ok()
}

/// The ranges of a node's `reg`.
fn ranges<'a>(node: &FdtNode<'a>) -> impl Iterator<Item = Range> + use<'a> {
    node.reg()
        .ok()
        .flatten()
        .into_iter()
        .flatten()
        .filter_map(|reg| Some(Range::new(reg.address::<u64>().ok()?, reg.size::<u64>().ok()?)))
}

/// A property that is a list of groups of `N` doublewords; an incomplete last group is left out.
fn doublewords<'a, const N: usize>(
    node: &FdtNode<'a>,
    name: &str,
) -> impl Iterator<Item = [u64; N]> + use<'a, N> {
    let value: &'a [u8] =
        node.property(name).and_then(|property| property.value_as().ok()).unwrap_or(&[]);
    value.chunks_exact(8 * N).map(|group| {
        core::array::from_fn(|index| {
            u64::from_be_bytes(core::array::from_fn(|byte| group[8 * index + byte]))
        })
    })
}

#[cfg(all(test, not(loom)))]
mod tests {
    use alloc::vec::Vec;

    use arch::address::RealAddress;
    use arch::opal::idle;
    use dtoolkit::model::{DeviceTree, DeviceTreeNode, DeviceTreeProperty};

    use super::Firmware;

    fn tells_of_nap(states: &[u32]) -> bool {
        let flags: Vec<u8> = states.iter().flat_map(|flags| flags.to_be_bytes()).collect();
        let mut node = DeviceTreeNode::new("power-mgt").unwrap();
        node.add_property(DeviceTreeProperty::new("ibm,cpu-idle-state-flags", flags).unwrap());
        let mut opal = DeviceTreeNode::new("ibm,opal").unwrap();
        opal.add_child(node);
        let mut tree = DeviceTree::new();
        tree.root.add_child(opal);
        Firmware::new(&tree.to_dtb(), RealAddress(0)).unwrap().tells_of_nap()
    }

    #[test]
    fn firmware_tells_of_nap_among_other_states_or_not_at_all() {
        // As skiboot's: fastsleep_ and winkle beside nap.
        let others = [0x0002_1003, 0x0004_7007];
        assert!(tells_of_nap(&[idle::NAP | idle::THREAD_LOST, others[0], others[1]]));
        assert!(tells_of_nap(&[others[0], idle::NAP]));
        assert!(!tells_of_nap(&others) && !tells_of_nap(&[]));
        let bare = DeviceTree::new().to_dtb();
        assert!(!Firmware::new(&bare, RealAddress(0)).unwrap().tells_of_nap());
    }
}
