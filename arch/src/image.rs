//! The image of a suspended partition: what another machine needs, and nothing of the machine that it was on.
//!
//! An image is a flattened device tree, the manifest, and behind it the pieces of 64 KiB that the partition had of its
//! memory, in their order. The hypervisor writes it when the partition has come to rest, and reads it when one starts
//! from it. A reader knows the version in the root's `compatible` and the one of the records, or reads nothing.
//!
//! ```text
//! / {
//!     compatible = "powervisor,image-v1";
//!     powervisor,file-bytes = <u64>;          length of the whole image
//!     powervisor,name = "...";
//!     powervisor,processor = "POWER9";
//!     powervisor,records = <u64>;             version of the vCPUs' records
//!     powervisor,memory-bytes = <u64>;
//!     powervisor,translation = "radix";
//!     powervisor,timebase-frequency = <u64>;
//!     powervisor,guest-time = <u64>;          its time base when it came to rest
//!     powervisor,clock-offset = <u64>;        seconds, signed
//!     powervisor,lpcr = <u64>;
//!     powervisor,process-table = <base bytes-log2>;   u64 each; left out if there is none
//!     powervisor,entries = <slot first second ...>;   u64 each, as the partition reads them; left out with radix
//!     powervisor,facilities = <u64>;          bits of HFSCR that its vCPUs could have
//!     powervisor,ran = <u64>;                 ticks that its vCPUs were charged
//!     powervisor,unfinished-line = "...";     what it wrote behind its last line end
//!     powervisor,pieces = <u64 ...>;          a bit for each 64 KiB of the memory, from the lowest on: it follows
//!     vcpu {                                  one node per vCPU, in their order
//!         powervisor,state = <activity prodded presentation>;     u64 each
//!         powervisor,area = <u64>;            guest real address; left out if there is none
//!         powervisor,log = <address entries next>;        the same
//!         powervisor,shadow = <u64>;          the same
//!         powervisor,segments = <u64 ...>;    as `slbmfee` and `slbmfev` read them; with a hashed page table
//!         r = <u64 ...>;                      and so on: the record, register by register
//!     };
//! };
//! ```

/// The root's `compatible`, with the version of the format.
pub const COMPATIBLE: &str = "powervisor,image-v1";
/// Root property: length of the whole image in bytes.
pub const FILE_BYTES: &str = "powervisor,file-bytes";
/// Root property: the partition's name.
pub const NAME: &str = "powervisor,name";
/// Root property: the processor on which it ran.
pub const PROCESSOR: &str = "powervisor,processor";
/// Root property: the version of the vCPUs' records.
pub const RECORDS: &str = "powervisor,records";
/// Root property: bytes of the partition's memory.
pub const MEMORY_BYTES: &str = "powervisor,memory-bytes";
/// Root property: the name of a [`Translation`](crate::bundle::Translation).
pub const TRANSLATION: &str = "powervisor,translation";
/// Root property: ticks of the time base in a second.
pub const FREQUENCY: &str = "powervisor,timebase-frequency";
/// Root property: the partition's time base when it came to rest.
pub const GUEST_TIME: &str = "powervisor,guest-time";
/// Root property: seconds that are added to the machine's clock for the partition's, signed.
pub const CLOCK_OFFSET: &str = "powervisor,clock-offset";
/// Root property: LPCR.
pub const LPCR: &str = "powervisor,lpcr";
/// Root property: where the process table is, and its size as a power of two. Left out: there is none.
pub const PROCESS_TABLE: &str = "powervisor,process-table";
/// Root property: the entries of the partition's hashed page table, as it reads them: slot and two doublewords of each.
pub const ENTRIES: &str = "powervisor,entries";
/// Doublewords of an entry.
pub const ENTRY_DOUBLEWORDS: usize = 3;
/// Root property: bits of HFSCR that the partition's vCPUs could have.
pub const FACILITIES: &str = "powervisor,facilities";
/// Root property: ticks that the partition's vCPUs were charged.
pub const RAN: &str = "powervisor,ran";
/// Root property: what it wrote to its terminal behind its last line end.
pub const UNFINISHED_LINE: &str = "powervisor,unfinished-line";
/// Root property: which pieces of the memory follow.
pub const PIECES: &str = "powervisor,pieces";

/// The name of each vCPU's node.
pub const VCPU: &str = "vcpu";
/// Property of a vCPU: what it does, 1 if it was prodded, and its external interrupts.
pub const STATE: &str = "powervisor,state";
/// Property of a vCPU: where its virtual processor area is.
pub const AREA: &str = "powervisor,area";
/// Property of a vCPU: where its dispatch trace log is, its entries, and the next one.
pub const LOG: &str = "powervisor,log";
/// Property of a vCPU: where its SLB shadow is.
pub const SHADOW: &str = "powervisor,shadow";
/// Property of a vCPU: its segment lookaside buffer. Left out: it has not run with a hashed page table.
pub const SEGMENTS: &str = "powervisor,segments";
/// Property of a vCPU: bits of HFSCR that it has used.
pub const USED: &str = "powervisor,used";

/// Bytes of a piece.
pub const PIECE_BYTES: u64 = 0x1_0000;
/// The longest manifest in bytes.
pub const MANIFEST_BYTES_MAX: u64 = 0x10_0000;
