//! Goes on with an image. It comes from outside: what is wrong with it is said, and what its partition could not have
//! by itself it does not get from it.

use alloc::boxed::Box;
use alloc::string::{String, ToString};
use alloc::vec::Vec;
use core::fmt;

use arch::address::GuestRealAddress;
use arch::address::RealAddress;
use arch::bundle::Translation;
use arch::hash::segment;
use arch::image::{
    AREA, CLOCK_OFFSET, COMPATIBLE, ENTRIES, ENTRY_DOUBLEWORDS, FACILITIES, FILE_BYTES, FREQUENCY,
    GUEST_TIME, LOG, LPCR, MANIFEST_BYTES_MAX, MEMORY_BYTES, NAME, PIECE_BYTES, PIECES,
    PROCESS_TABLE, PROCESSOR, RAN, RECORDS, SEGMENTS, SHADOW, STATE, TRANSLATION, UNFINISHED_LINE,
    USED,
};
use arch::radix::TableLocation;
use arch::registers::hfscr::Facility;
use arch::registers::{lpcr, ppr, psscr};
use arch::vcpus::activity;
use dtoolkit::fdt::{Fdt, FdtNode};
use dtoolkit::{Node, Property};

use crate::boot::bundle::{HEADER_BYTES, manifest_bytes};
use crate::facilities::{self, Demanded};
use crate::guest_memory::AccessError;
use crate::hal::{HalError, Maps, Memory, Platform, Window, Windows};
use crate::hash_table::{Checked, form};
use crate::life::activity::{Next, Sleep};
use crate::memory::Range;
use crate::partition::load::read;
use crate::partition::{Partition, line};
use crate::vcpu::Vcpu;
use crate::vcpu::registers::{Registers, Segments, VERSION};
use crate::vcpu::vpa::{AREA_BYTES, LOG_ENTRY_BYTES, Log, SHADOW_BYTES, is_area, is_place};
use crate::vcpu_id::VcpuId;

/// LPCR bits that a guest changes by hypercall.
const fn guests_lpcr(translation: Translation) -> u64 {
    let both = lpcr::AIL.set(0, 3) | lpcr::ILE;
    match translation {
        Translation::Radix => both | lpcr::GTSE,
        Translation::Hash => both,
    }
}

/// The latest time of a partition that a machine goes on with, whose own time base goes there: three centuries at 512
/// MHz. Nothing that is added to it wraps.
const GUEST_TIME_MAX: u64 = 1 << 62;

/// An image that is there, as far as it can be seen at once.
#[derive(Debug)]
pub struct Image {
    manifest: Vec<u8>,
    /// Where the pieces of the memory are.
    memory: Range,
}

/// Why a partition does not go on with an image.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum ImageError {
    /// It is none, or of another format.
    NotAnImage,
    /// The records of the vCPUs are of this version.
    Records(u64),
    /// It has not the bytes that it should have.
    Length {
        /// What it says.
        expected: u64,
        /// What there is.
        actual: u64,
    },
    /// This property is missing, or is not as it is written.
    Property(&'static str),
    /// The image is of something else than what is here.
    Other {
        /// What differs.
        what: &'static str,
        /// What the image has.
        image: String,
        /// What is here.
        here: String,
    },
    /// The partition could have this facility, which it has not here and which cannot be emulated.
    Facility(&'static str),
    /// Memory could not be given or copied.
    Copy(AccessError),
}

impl From<HalError> for ImageError {
    fn from(error: HalError) -> Self {
        Self::Copy(AccessError::Hypervisor(error))
    }
}

impl From<AccessError> for ImageError {
    fn from(error: AccessError) -> Self {
        Self::Copy(error)
    }
}

impl fmt::Display for ImageError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("its image: ")?;
        match self {
            Self::NotAnImage => write!(f, "it is none that is compatible with {COMPATIBLE}"),
            Self::Records(version) => write!(
                f,
                "its vCPUs' records have version {version}, and this hypervisor reads {VERSION}"
            ),
            Self::Length { expected, actual } => {
                write!(f, "it should have {expected} bytes and has {actual}")
            }
            Self::Property(name) => write!(f, "property {name} is missing or not as it is written"),
            Self::Other { what, image, here } => {
                write!(f, "its {what} is {image}, and that of the partition here {here}")
            }
            Self::Facility(name) => {
                write!(f, "its partition could have {name}, which it has not here")
            }
            Self::Copy(error) => error.fmt(f),
        }
    }
}

/// The doublewords of a property, `N` of them.
fn words<const N: usize>(node: &FdtNode<'_>, name: &'static str) -> Result<[u64; N], ImageError> {
    let list = list(node, name)?;
    list.try_into().map_err(|_| ImageError::Property(name))
}

fn list(node: &FdtNode<'_>, name: &'static str) -> Result<Vec<u64>, ImageError> {
    let property = node.property(name).ok_or(ImageError::Property(name))?;
    let (words, rest) = property.value().as_chunks::<8>();
    if !rest.is_empty() {
        return Err(ImageError::Property(name));
    }
    let mut list = room_for(words.len())?;
    list.extend(words.iter().map(|word| u64::from_be_bytes(*word)));
    Ok(list)
}

/// An empty list with room for so many, if the heap has that: an image may ask for much of it.
fn room_for<T>(count: usize) -> Result<Vec<T>, ImageError> {
    let mut room = Vec::new();
    room.try_reserve_exact(count).map_err(|_| ImageError::from(HalError::OutOfTables))?;
    Ok(room)
}

fn word(node: &FdtNode<'_>, name: &'static str) -> Result<u64, ImageError> {
    words(node, name).map(|[word]| word)
}

/// The same of a property that may be left out.
fn if_there<T>(
    node: &FdtNode<'_>,
    name: &'static str,
    read: impl FnOnce(&FdtNode<'_>, &'static str) -> Result<T, ImageError>,
) -> Result<Option<T>, ImageError> {
    node.property(name).is_some().then(|| read(node, name)).transpose()
}

fn text<'a>(node: &FdtNode<'a>, name: &'static str) -> Result<&'a str, ImageError> {
    let property = node.property(name).ok_or(ImageError::Property(name))?;
    property.value_as::<&str>().map_err(|_| ImageError::Property(name))
}

/// Fails unless the image has what is here.
fn same<T: PartialEq + ToString>(what: &'static str, image: T, here: T) -> Result<(), ImageError> {
    if image == here {
        return Ok(());
    }
    Err(ImageError::Other { what, image: image.to_string(), here: here.to_string() })
}

impl Image {
    /// The image that lies at `file`.
    ///
    /// # Errors
    /// That it is none, of another version, or cut.
    pub fn read<H: Windows>(hal: &H, file: Range) -> Result<Self, ImageError> {
        let mut header = [0; HEADER_BYTES as usize];
        if file.bytes < HEADER_BYTES {
            return Err(ImageError::NotAnImage);
        }
        read(hal, file.start, &mut header)?;
        let bytes = manifest_bytes(header, file.bytes.min(MANIFEST_BYTES_MAX));
        let bytes = bytes.map_err(|_| ImageError::NotAnImage)?;
        let mut manifest = room_for(bytes as usize)?;
        manifest.resize(bytes as usize, 0);
        read(hal, file.start, &mut manifest)?;
        let tree = Fdt::new(&manifest).map_err(|_| ImageError::NotAnImage)?;
        let root = tree.root();
        if text(&root, "compatible") != Ok(COMPATIBLE) {
            return Err(ImageError::NotAnImage);
        }
        let records = word(&root, RECORDS)?;
        if records != VERSION {
            return Err(ImageError::Records(records));
        }
        let pieces =
            list(&root, PIECES)?.iter().map(|word| u64::from(word.count_ones())).sum::<u64>();
        let before = bytes.next_multiple_of(PIECE_BYTES);
        let memory = Range::new(file.start.0.saturating_add(before), PIECE_BYTES * pieces);
        let (expected, actual) = (before + memory.bytes, file.bytes);
        if word(&root, FILE_BYTES)? != expected || actual < expected {
            return Err(ImageError::Length { expected, actual });
        }
        Ok(Self { manifest, memory })
    }

    fn root(&self) -> Result<FdtNode<'_>, ImageError> {
        // It was read once already.
        Ok(Fdt::new(&self.manifest).map_err(|_| ImageError::NotAnImage)?.root())
    }

    /// The partition's time base when it came to rest.
    ///
    /// # Errors
    /// [`ImageError::Property`].
    pub fn guest_time(&self) -> Result<u64, ImageError> {
        let time = word(&self.root()?, GUEST_TIME)?;
        if time > GUEST_TIME_MAX {
            return Err(ImageError::Property(GUEST_TIME));
        }
        Ok(time)
    }
}

/// The partition, with nothing of its memory filled and without vCPUs, becomes what the image has, with vCPUs of these
/// numbers, on a processor of this name whose time base has `frequency`. What each vCPU does next.
///
/// # Errors
/// Why it cannot be.
pub fn load<H: Memory + Platform>(
    partition: &mut Partition<H>,
    hal: &H,
    image: &Image,
    ids: &[VcpuId],
    processor: &str,
    frequency: u64,
) -> Result<Vec<Next>, ImageError> {
    let root = image.root()?;
    same("name", text(&root, NAME)?, partition.name.as_str())?;
    same("processor", text(&root, PROCESSOR)?, processor)?;
    same("time base's frequency", word(&root, FREQUENCY)?, frequency)?;
    same("memory in bytes", word(&root, MEMORY_BYTES)?, partition.memory.range.bytes)?;
    same("translation", text(&root, TRANSLATION)?, partition.translation().name())?;
    same("number of vCPUs", root.children().count(), ids.len())?;
    let could_have = word(&root, FACILITIES)?;
    // What `stop` does without the facility, the hypervisor does.
    let missing = could_have & !partition.on_demand & !Facility::Stop.bit();
    if let Some(facility) = Facility::ALL.iter().find(|facility| missing & facility.bit() != 0) {
        return Err(ImageError::Facility(facilities::name(*facility)));
    }
    let lpcr = word(&root, LPCR)?;
    let has_door = matches!(lpcr::AIL.get(lpcr), 0 | 3);
    if (lpcr ^ partition.lpcr) & !guests_lpcr(partition.translation()) != 0 || !has_door {
        return Err(ImageError::Property(LPCR));
    }
    partition.lpcr = lpcr;
    if let Some([base, bytes_log2]) = if_there(&root, PROCESS_TABLE, words)? {
        let bytes_log2 = u32::try_from(bytes_log2).ok().filter(|log2| (12..=36).contains(log2));
        let bytes_log2 = bytes_log2.ok_or(ImageError::Property(PROCESS_TABLE))?;
        let address = GuestRealAddress(base);
        let has_one = match partition.translation() {
            Translation::Radix => true,
            Translation::Hash => false,
        };
        let is_its = has_one && partition.memory.real(address, 1 << bytes_log2).is_some();
        if !is_its || !address.is_aligned(bytes_log2) {
            return Err(ImageError::Property(PROCESS_TABLE));
        }
        partition.process_table = Some(TableLocation { base: RealAddress(base), bytes_log2 });
        hal.set_process_table(partition.lpid, partition.process_table);
    }
    partition.clock_offset = word(&root, CLOCK_OFFSET)? as i64;
    let ran = word(&root, RAN)?;
    partition.ran_before = ran;
    partition.time_limit = partition.time_limit.map(|limit| limit.saturating_sub(ran));
    let held = root.property(UNFINISHED_LINE).ok_or(ImageError::Property(UNFINISHED_LINE))?;
    if !line::is_unfinished(held.value()) {
        return Err(ImageError::Property(UNFINISHED_LINE));
    }
    partition.unfinished_line = held.value().to_vec();
    fill(partition, hal, &list(&root, PIECES)?, image.memory)?;
    match partition.translation() {
        Translation::Radix => {}
        Translation::Hash => enter(partition, hal, &list(&root, ENTRIES)?)?,
    }
    let vcpus = root.children().zip(ids);
    let next = vcpus.map(|(node, id)| vcpu(partition, hal, &node, *id, could_have));
    next.collect()
}

/// Copies the memory.
fn fill<H: Memory + Platform>(
    partition: &mut Partition<H>,
    hal: &H,
    pieces: &[u64],
    mut from: Range,
) -> Result<(), ImageError> {
    let units = (0..).zip(pieces).flat_map(|(place, word)| {
        (0..64).filter(move |bit| word & 1 << bit != 0).map(move |bit| 64 * place + bit)
    });
    let maps = hal.maps();
    for unit in units {
        let address = GuestRealAddress(unit * PIECE_BYTES);
        let real = partition.memory.filled(hal, address, PIECE_BYTES)?;
        let mut to = maps.open(real, PIECE_BYTES)?;
        // A frame of the bundle may not be one of the image.
        for (first, bytes) in crate::guest_memory::pieces(from.start.0, PIECE_BYTES) {
            let source = maps.open(from.start.wrapping_add(first), bytes)?;
            let copy = || to.copy_from(first as usize, &source, bytes as usize);
            partition.memory.fills(hal, copy);
        }
        to.make_fetchable();
        from = Range::new(from.start.0 + PIECE_BYTES, from.bytes - PIECE_BYTES);
    }
    Ok(())
}

/// Enters the entries of a hashed page table where they were; the partition has all of its memory then.
fn enter<H: Memory + Platform>(
    partition: &mut Partition<H>,
    hal: &H,
    entries: &[u64],
) -> Result<(), ImageError> {
    let mut unit = Some(0);
    while let Some(so_far) = unit {
        unit = partition.memory.give_all(hal, so_far)?;
    }
    let (entries, rest) = entries.as_chunks::<ENTRY_DOUBLEWORDS>();
    let memory = &partition.memory;
    let Some(table) = memory.hash_table().filter(|_| rest.is_empty()) else {
        return Err(ImageError::Property(ENTRIES));
    };
    for &[slot, first, second] in entries {
        let checked =
            Checked::new(form::<H>(), first, second, |address, bytes| memory.real(address, bytes));
        let slots = (slot < table.slots()).then(|| slot..slot + 1);
        let entered = checked.zip(slots).and_then(|(entry, slots)| table.enter(hal, slots, &entry));
        entered.ok_or(ImageError::Property(ENTRIES))?;
    }
    Ok(())
}

/// Adds a vCPU: what it does next.
fn vcpu<H: Memory + Platform>(
    partition: &mut Partition<H>,
    hal: &H,
    node: &FdtNode<'_>,
    id: VcpuId,
    could_have: u64,
) -> Result<Next, ImageError> {
    let mut wrong = None;
    let mut fill = |name: &'static str, values: &mut [u64]| match list(node, name) {
        Ok(list) if list.len() == values.len() => values.copy_from_slice(&list),
        Ok(_) => wrong = Some(ImageError::Property(name)),
        Err(error) => wrong = Some(error),
    };
    let mut registers = Registers::started(GuestRealAddress(0), 0, 0);
    registers.visit(&mut fill);
    let mut demanded = Demanded::from_start(partition.from_start);
    if let Some(used) = if_there(node, USED, word)? {
        let demanded = demanded.get_or_insert_default();
        demanded.visit(&mut fill);
        if used & !could_have != 0 {
            return Err(ImageError::Property(USED));
        }
        let used = used & partition.on_demand;
        demanded.facilities |= used;
        // What is at work is not withheld; the rest the vCPU asks for again in time.
        demanded.given |= used;
    }
    if let Some(error) = wrong {
        return Err(error);
    }
    if let Some(words) = if_there(node, SEGMENTS, list)? {
        let mut segments = Box::<Segments>::default();
        let place = segments.as_flattened_mut();
        let has_segments = match partition.translation() {
            Translation::Radix => false,
            Translation::Hash => true,
        };
        if !has_segments || words.len() != place.len() {
            return Err(ImageError::Property(SEGMENTS));
        }
        let is_valid = |pair: &[u64; 2]| pair[0] & segment::V != 0 && segment::is_entry(*pair);
        let is_sound = |pair: &[u64; 2]| *pair == [0; 2] || is_valid(pair);
        let (pairs, _) = words.as_chunks();
        if !pairs.iter().all(is_sound) {
            return Err(ImageError::Property(SEGMENTS));
        }
        place.copy_from_slice(&words);
        registers.segments = Some(segments);
    }
    let priority = &mut registers.supervisor.ppr;
    if ppr::PRIORITY.get(*priority) == ppr::HYPERVISOR {
        *priority = ppr::MEDIUM;
    }
    registers.supervisor.psscr = registers.supervisor.psscr & psscr::PRIVILEGED | psscr::WITHHELD;
    let mut vcpu = Vcpu::new(id, registers);
    vcpu.demanded = demanded;
    let [does, is_prodded, presentation] = words(node, STATE)?;
    vcpu.is_prodded = is_prodded != 0;
    vcpu.presentation.set_bits(presentation);
    let until = vcpu.registers.as_ref().map_or(0, |registers| {
        registers.supervisor.decrementer_expires.wrapping_sub(partition.timebase_offset)
    });
    let next = match does {
        activity::STOPPED => Next::Stops,
        activity::READY => Next::Ready,
        activity::CEDED => Next::Sleeps(Sleep::Ceded { until }),
        activity::AWAITS_PROD => Next::Sleeps(Sleep::AwaitsProd),
        _ => return Err(ImageError::Property(STATE)),
    };
    if let Some(address) = if_there(node, AREA, word)?.map(GuestRealAddress) {
        if !is_area(address, AREA_BYTES) {
            return Err(ImageError::Property(AREA));
        }
        let real = partition.memory.filled(hal, address, AREA_BYTES)?;
        let window = hal.pin_window(id, real, AREA_BYTES)?;
        vcpu.vpa.set_area(address, window, false);
    }
    if let Some([address, entries, next]) = if_there(node, LOG, words)? {
        let address = GuestRealAddress(address);
        let bytes = entries.checked_mul(LOG_ENTRY_BYTES);
        let is_its = bytes.is_some_and(|bytes| partition.memory.real(address, bytes).is_some());
        if entries == 0 || !is_its || address.0 == 0 || !vcpu.vpa.has_area() {
            return Err(ImageError::Property(LOG));
        }
        vcpu.vpa.log = Some(Log { address, entries, next });
    }
    if let Some(address) = if_there(node, SHADOW, word)?.map(GuestRealAddress) {
        let is_its = partition.memory.real(address, SHADOW_BYTES).is_some();
        if !is_its || !is_place(address, SHADOW_BYTES) || !vcpu.vpa.has_area() {
            return Err(ImageError::Property(SHADOW));
        }
        vcpu.vpa.shadow = Some(address);
    }
    partition.vcpus.push(vcpu);
    Ok(next)
}
