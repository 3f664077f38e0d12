//! A partition at rest becomes an image, and another machine goes on with it as it was; or says what is wrong.

use std::boxed::Box;
use std::string::{String, ToString};
use std::vec::Vec;

use arch::address::{GuestRealAddress, RealAddress};
use arch::bundle::Translation;
use arch::hash::EntryForm;
use arch::image::{
    AREA as AREA_PROPERTY, ENTRIES, GUEST_TIME, LOG, LPCR, PROCESS_TABLE, SEGMENTS, UNFINISHED_LINE,
};
use arch::radix::TableLocation;
use arch::registers::hfscr::Facility;
use arch::registers::{lpcr, monitor, ppr, psscr};
use proptest::prelude::proptest;

use super::write::{bits, room};
use super::{Image, ImageError, Saved, Suspension, ahead, begin, load, obstacle, save_piece};
use crate::facilities::Demanded;
use crate::fake::Fake;
use crate::hal::Windows;
use crate::hash_table::Checked;
use crate::hash_table::Options;
use crate::life::activity::{Next, Sleep};
use crate::life::progress::Progress;
use crate::memory::Range;
use crate::partition::Partition;
use crate::vcpu::Vcpu;
use crate::vcpu::registers::{Registers, Segments, VERSION};
use crate::vcpu::vpa::{AREA_BYTES, Log};
use crate::vcpu_id::VcpuId;

const MEMORY: Range = Range::new(0x10_0000, 0x10_0000);
const AREA: Range = Range::new(0x20_0000, 0x20_0000);
const MHZ: u64 = 512_000_000;
const NOW: u64 = 0x1234_5678;
const VPA: GuestRealAddress = GuestRealAddress(0x3_0080);

fn number(seed: &mut u64) -> u64 {
    *seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
    *seed
}

/// A vCPU whose registers all differ.
fn vcpu(id: u32, seed: &mut u64) -> Vcpu<Fake> {
    let mut registers = Registers::started(GuestRealAddress(0), 0, 0);
    registers.visit(&mut |_, values| values.iter_mut().for_each(|value| *value = number(seed)));
    registers.supervisor.psscr = psscr::WITHHELD | 0x3;
    registers.supervisor.ppr = ppr::MEDIUM;
    Vcpu::new(VcpuId(id), registers)
}

/// The values of a vCPU, register by register.
fn values(vcpu: &mut Vcpu<Fake>) -> Vec<(&'static str, Vec<u64>)> {
    let mut all = Vec::new();
    let mut see = |name: &'static str, values: &mut [u64]| all.push((name, values.to_vec()));
    vcpu.registers.as_mut().unwrap().visit(&mut see);
    if let Some(demanded) = &mut vcpu.demanded {
        demanded.visit(&mut see);
        see("facilities", &mut [demanded.facilities]);
    }
    all
}

/// A partition at rest, with something of everything: vCPUs that are stopped, ready, and asleep in either way.
fn at_rest(hal: &Fake) -> Partition<Fake> {
    let mut partition = hal.partition(MEMORY);
    let seed = &mut 1;
    partition.vcpus = (5..9).map(|id| vcpu(id, seed)).collect();
    partition.vcpus[1].rest(Next::Ready);
    partition.vcpus[2].rest(Next::Sleeps(Sleep::Ceded { until: 77 }));
    partition.vcpus[3].rest(Next::Sleeps(Sleep::AwaitsProd));
    let mut demanded = Demanded::default();
    demanded.visit(&mut |_, values| values.iter_mut().for_each(|value| *value = number(seed)));
    demanded.facilities = Facility::VecVsx.bit();
    partition.vcpus[1].demanded = Some(demanded.into());
    partition.vcpus[2].is_prodded = true;
    partition.vcpus[3].presentation.set_cppr(5);
    partition.lpcr |= lpcr::AIL.set(0, 3) | lpcr::ILE | lpcr::GTSE;
    partition.process_table = Some(TableLocation { base: RealAddress(0x8_0000), bytes_log2: 16 });
    partition.clock_offset = -3;
    partition.unfinished_line = b"half a".to_vec();
    partition.ran_before = 30;
    partition.memory.write(hal, GuestRealAddress(0x1_FFFE), b"across").unwrap();
    partition.memory.write(hal, GuestRealAddress(0xF_0000), b"last").unwrap();
    let real = partition.memory.filled(hal, VPA, AREA_BYTES).unwrap();
    let window = hal.pin_window(VcpuId(6), real, AREA_BYTES).unwrap();
    partition.vcpus[1].vpa.set_area(VPA, window, false);
    partition.vcpus[1].vpa.log = Some(Log { address: VPA, entries: 3, next: 8 });
    partition.vcpus[1].vpa.shadow = Some(VPA);
    partition.suspension =
        Some(Suspension { area: AREA, frequency: MHZ, processor: "POWER9", bytes: 0 });
    partition
}

/// The image, and the partition that it is of.
fn suspended() -> (Vec<u8>, Partition<Fake>) {
    let hal = Fake::new(0x40_0000);
    let mut partition = at_rest(&hal);
    begin(&mut partition, &hal, NOW, 12).unwrap();
    let mut saved = Saved::SoFar(Progress::SAVE);
    let range = loop {
        match saved {
            Saved::SoFar(Progress::Saved { from, to }) => {
                saved = save_piece(&partition, &hal, from, to).unwrap();
            }
            Saved::SoFar(other) => panic!("{other:?}"),
            Saved::Whole(range) => break range,
        }
    };
    assert_eq!(hal.open_windows.get(), 1, "the area's own");
    let memory = hal.memory.borrow();
    let (start, bytes) = (range.start.0 as usize, range.bytes as usize);
    (memory[start..start + bytes].to_vec(), partition)
}

/// A partition that `change` makes another one goes on with the image that lies at `AREA`.
fn go_on(
    image: &[u8],
    change: impl FnOnce(&mut Partition<Fake>),
) -> Result<(Fake, Partition<Fake>, Vec<Next>), ImageError> {
    let hal = Fake::new(0x40_0000);
    hal.memory.borrow_mut()[AREA.start.0 as usize..][..image.len()].copy_from_slice(image);
    let mut partition = hal.partition(MEMORY);
    change(&mut partition);
    let image = Image::read(&hal, Range { bytes: image.len() as u64, ..AREA })?;
    image.guest_time()?;
    let ids: Vec<_> = (1..5).map(VcpuId).collect();
    let next = load(&mut partition, &hal, &image, &ids, "POWER9", MHZ)?;
    Ok((hal, partition, next))
}

#[test]
fn what_was_suspended_goes_on_as_it_was() {
    let (image, mut before) = suspended();
    let (hal, mut after, next) =
        go_on(&image, |partition| partition.time_limit = Some(50)).unwrap();
    for (before, after) in before.vcpus.iter_mut().zip(&mut after.vcpus) {
        assert_eq!(values(before), values(after));
        assert_eq!(before.is_prodded, after.is_prodded);
        assert_eq!(before.presentation.bits(), after.presentation.bits());
        assert_eq!(before.vpa.area(), after.vpa.area());
        assert_eq!(before.vpa.log, after.vpa.log);
        assert_eq!(before.vpa.shadow, after.vpa.shadow);
    }
    let until = after.vcpus[2].registers.as_ref().unwrap().supervisor.decrementer_expires;
    let asleep = [Next::Sleeps(Sleep::Ceded { until }), Next::Sleeps(Sleep::AwaitsProd)];
    assert_eq!(next, [&[Next::Stops, Next::Ready][..], &asleep].concat());
    assert_eq!(after.lpcr, before.lpcr);
    assert_eq!(hal.process_table.get(), Some((1, before.process_table)));
    assert_eq!(after.process_table, before.process_table);
    assert_eq!((after.clock_offset, after.unfinished_line), (-3, b"half a".to_vec()));
    assert_eq!((after.ran_before, after.time_limit), (42, Some(8)));
    let mut read = |address, bytes: &mut [u8]| {
        after.memory.read(&hal, GuestRealAddress(address), bytes).unwrap();
    };
    let (mut across, mut last, mut zero) = ([0; 6], [0; 4], [9; 8]);
    read(0x1_FFFE, &mut across);
    read(0xF_0000, &mut last);
    read(0x5_0000, &mut zero);
    assert_eq!((&across, &last, zero), (b"across", b"last", [0; 8]));
}

/// An entry of the segment lookaside buffer.
const SEGMENT: [u64; 2] = [0x1234_0000_0800_0000, 0x5500];

/// A partition with a hashed page table, and one entry of its own in it, beside one of the hypervisor's.
fn hashed(hal: &Fake) -> Partition<Fake> {
    let name = String::from("test");
    let mut partition =
        Partition::translated(hal, name, 1, MEMORY, Translation::Hash, Options::default()).unwrap();
    let mut vcpu = vcpu(0, &mut 1);
    let mut segments = Box::<Segments>::default();
    segments[3] = SEGMENT;
    vcpu.registers.as_mut().unwrap().segments = Some(segments);
    vcpu.rest(Next::Ready);
    partition.vcpus.push(vcpu);
    partition.suspension =
        Some(Suspension { area: AREA, frequency: MHZ, processor: "POWER9", bytes: 0 });
    partition
}

#[test]
fn a_hashed_page_table_goes_on_with_what_its_partition_wrote() {
    const SLOT: u64 = 0x123;
    // A page of 4 KiB at guest real 0x3000, valid, with R alone; M is normal memory.
    const ENTRY: [u64; 2] = [0x4000_0001_2345_6801, 0x3000 | 0x100 | 0x10 | 2];
    let hal = Fake::new(0x40_0000);
    let mut before = hashed(&hal);
    let table = before.memory.hash_table().unwrap();
    let entry = Checked::new(EntryForm::V3, ENTRY[0], ENTRY[1], |address, _| {
        before.memory.real(address, 1)
    });
    assert_eq!(table.enter(&hal, SLOT..SLOT + 1, &entry.unwrap()), Some(SLOT));
    let real = before.memory.real(GuestRealAddress(0x7000), 1).unwrap();
    assert!(table.add_real_mode(&hal, GuestRealAddress(0x7000), real));
    let written: Vec<_> = table.written::<Fake>().collect();
    assert_eq!(written, [(SLOT, ENTRY)], "the hypervisor's own comes back when it is missed");
    begin(&mut before, &hal, NOW, 0).unwrap();
    let bytes = before.suspension.unwrap().bytes as usize;
    let place = Range { bytes: bytes as u64, ..AREA };
    let mut after = hashed(&hal);
    after.vcpus.clear();
    let image = Image::read(&hal, place).unwrap();
    load(&mut after, &hal, &image, &[VcpuId(0)], "POWER9", MHZ).unwrap();
    assert_eq!(after.memory.hash_table().unwrap().written::<Fake>().collect::<Vec<_>>(), written);
    let [before, after] = [before, after].map(|mut it| it.vcpus.remove(0).registers.unwrap());
    assert_eq!(before, after);
    let sound = hal.memory.borrow().clone();
    // What is refused if this word of the image is another.
    let refused = |word: u64, other: u64| {
        let mut memory = sound.clone();
        let image = &mut memory[AREA.start.0 as usize..][..bytes];
        let mut words = image.windows(8);
        let wrong = words.position(|window| window == word.to_be_bytes()).unwrap();
        image[wrong..wrong + 8].copy_from_slice(&other.to_be_bytes());
        hal.memory.replace(memory);
        let mut partition = hashed(&hal);
        partition.vcpus.clear();
        let image = Image::read(&hal, place).unwrap();
        load(&mut partition, &hal, &image, &[VcpuId(0)], "POWER9", MHZ).err()
    };
    assert_eq!(refused(ENTRY[1], ENTRY[1]), None);
    let outside = ENTRY[1] | 0x10_0000;
    assert_eq!(refused(ENTRY[1], outside), Some(ImageError::Property(ENTRIES)));
    // What no `slbmte` of the partition's gets past the processor: an index, reserved bits, no size, a page larger than
    // its segment; and an entry that is not valid and not zero.
    let [esid, vsid] = SEGMENT;
    let wrong = [
        (esid, esid | 2),
        (esid, esid | 0x400_0000),
        (esid, esid & !0x800_0000),
        (vsid, vsid | 1),
        (vsid, vsid & !0x100 | 0x10),
        (vsid, vsid | 0x20),
        (vsid, vsid | 1 << 63),
    ];
    for (word, other) in wrong {
        assert_eq!(refused(word, other), Some(ImageError::Property(SEGMENTS)), "{other:#x}");
    }
}

#[test]
fn too_large_a_hashed_page_table_cannot_be_suspended() {
    let hal = Fake::new(0x40_0000);
    let of = |bytes| {
        let memory = Range::new(0, bytes);
        let name = String::from("test");
        Partition::translated(&hal, name, 1, memory, Translation::Hash, Options::default()).unwrap()
    };
    assert_eq!(obstacle(&of(64 << 20)), None);
    assert!(obstacle(&of(65 << 20)).unwrap().contains("64 MiB at most"));
}

/// What is told of a partition takes memory once, which may not be there.
#[test]
fn the_room_for_a_manifest_suffices() {
    let hal = Fake::new(0x40_0000);
    for mut partition in [at_rest(&hal), hashed(&hal)] {
        let room = room(&partition, &bits(&partition.memory));
        begin(&mut partition, &hal, NOW, 0).unwrap();
        let memory = hal.memory.borrow();
        // A tree begins with its magic and its length.
        let length = memory[AREA.start.0 as usize + 4..].first_chunk().unwrap();
        let length = u32::from_be_bytes(*length) as usize;
        assert!(length <= room, "{length} of {room}");
    }
}

/// It cannot be woken while it is at rest, and nobody wakes it on the other machine.
#[test]
fn a_sleeper_that_was_interrupted_meanwhile_is_awake() {
    let hal = Fake::new(0x40_0000);
    let mut partition = at_rest(&hal);
    partition.vcpus[2].presentation.set_cppr(5);
    assert!(partition.vcpus[2].presentation.set_mfrr(4));
    begin(&mut partition, &hal, NOW, 0).unwrap();
    let bytes = partition.suspension.unwrap().bytes as usize;
    let image = hal.memory.borrow()[AREA.start.0 as usize..][..bytes].to_vec();
    let (_, _, next) = go_on(&image, |_| {}).unwrap();
    assert_eq!(next[2], Next::Ready);
}

/// What works while nobody touches it, such as counters, goes on at once.
#[test]
fn what_was_used_is_given_from_the_first_entry_on() {
    let (image, before) = suspended();
    let (_, after, _) =
        go_on(&image, |partition| partition.from_start = Facility::Dscr.bit()).unwrap();
    let [before, after] = [&before, &after].map(|it| it.vcpus[1].demanded.as_ref().unwrap());
    assert!(before.facilities != 0 && after.is_given(Facility::Dscr));
    assert_eq!(after.given & before.facilities, before.facilities);
    assert_eq!((after.vsr, after.fpscr), (before.vsr, before.fpscr));
}

#[test]
fn what_is_missing_here_is_refused_but_for_stop() {
    let hal = Fake::new(0x40_0000);
    let mut partition = at_rest(&hal);
    partition.on_demand |= Facility::Stop.bit() | Facility::Pm.bit();
    partition.vcpus[1].demanded.as_mut().unwrap().facilities |= Facility::Stop.bit();
    begin(&mut partition, &hal, NOW, 0).unwrap();
    let bytes = partition.suspension.unwrap().bytes as usize;
    let image = hal.memory.borrow()[AREA.start.0 as usize..][..bytes].to_vec();
    let error = go_on(&image, |_| {}).unwrap_err();
    assert_eq!(error, ImageError::Facility("the performance monitor"));
    let has_monitor = |partition: &mut Partition<Fake>| partition.on_demand |= Facility::Pm.bit();
    let (_, emulates, _) = go_on(&image, has_monitor).unwrap();
    assert!(!emulates.vcpus[1].demanded.as_ref().unwrap().has(Facility::Stop));
    let has_stop = |partition: &mut Partition<Fake>| {
        partition.on_demand |= Facility::Pm.bit() | Facility::Stop.bit();
    };
    let (_, stops, _) = go_on(&image, has_stop).unwrap();
    assert!(stops.vcpus[1].demanded.as_ref().unwrap().has(Facility::Stop));
}

/// ESL, EC and PSLL are the hypervisor's: no image lets a vCPU execute `stop` that has not asked for it here.
#[test]
fn a_vcpu_goes_on_without_stop_whatever_its_image_says() {
    let hal = Fake::new(0x40_0000);
    let mut partition = at_rest(&hal);
    partition.vcpus[0].registers.as_mut().unwrap().supervisor.psscr = !psscr::EC;
    begin(&mut partition, &hal, NOW, 0).unwrap();
    let bytes = partition.suspension.unwrap().bytes as usize;
    let image = hal.memory.borrow()[AREA.start.0 as usize..][..bytes].to_vec();
    let (_, after, _) = go_on(&image, |_| {}).unwrap();
    let supervisor = &after.vcpus[0].registers.as_ref().unwrap().supervisor;
    assert_eq!(supervisor.psscr, psscr::PRIVILEGED | psscr::WITHHELD);
}

#[test]
fn an_image_of_something_else_is_refused() {
    let (image, _) = suspended();
    let other = |change: fn(&mut Partition<Fake>)| go_on(&image, change).unwrap_err().to_string();
    let name = other(|partition| partition.name = String::from("other"));
    assert_eq!(name, "its image: its name is test, and that of the partition here other");
    assert!(other(|partition| partition.lpcr ^= lpcr::HDICE).contains(LPCR));
    let hal = Fake::new(0x40_0000);
    hal.memory.borrow_mut()[AREA.start.0 as usize..][..image.len()].copy_from_slice(&image);
    let place = Range { bytes: image.len() as u64, ..AREA };
    let refused = |memory: Range, ids: u32, processor, frequency| {
        let image = Image::read(&hal, place).unwrap();
        let ids: Vec<_> = (0..ids).map(VcpuId).collect();
        let mut partition = Partition::new(&hal, String::from("test"), 1, memory).unwrap();
        load(&mut partition, &hal, &image, &ids, processor, frequency).unwrap_err().to_string()
    };
    assert!(refused(MEMORY, 3, "POWER9", MHZ).contains("number of vCPUs is 4"));
    assert!(refused(MEMORY, 4, "POWER8", MHZ).contains("processor is POWER9"));
    assert!(refused(MEMORY, 4, "POWER9", 1).contains("frequency is 512000000"));
    let small = Range::new(MEMORY.start.0, 0x8_0000);
    assert!(refused(small, 4, "POWER9", MHZ).contains("memory in bytes is 1048576"));
    let mut hashed = Partition::translated(
        &hal,
        String::from("test"),
        1,
        MEMORY,
        Translation::Hash,
        Options::default(),
    )
    .unwrap();
    let read = Image::read(&hal, place).unwrap();
    let ids: Vec<_> = (0..4).map(VcpuId).collect();
    let error = load(&mut hashed, &hal, &read, &ids, "POWER9", MHZ).unwrap_err().to_string();
    assert!(error.contains("translation is radix"), "{error}");
}

/// The value of the first property of this name in the bytes of a tree, to change.
fn property<'a>(image: &'a mut [u8], name: &str, value: &[u8]) -> &'a mut [u8] {
    // It stands behind FDT_PROP, its length and its name's place.
    let begins = |place: &usize| {
        image[place - 12..place - 8] == 3u32.to_be_bytes() && image[*place..].starts_with(value)
    };
    let place = (12..image.len()).find(begins);
    &mut image[place.unwrap_or_else(|| panic!("no {name} of that value"))..][..value.len()]
}

/// What a partition cannot give itself it does not get by an image, nor does anybody else lose by it.
#[test]
fn what_no_partition_could_have_is_refused_by_its_name() {
    let (image, _) = suspended();
    let refused = |name: &'static str, old: &[u64], new: &[u64]| {
        let mut image = image.clone();
        let bytes = |words: &[u64]| -> Vec<u8> {
            words.iter().flat_map(|word| word.to_be_bytes()).collect()
        };
        property(&mut image, name, &bytes(old)).copy_from_slice(&bytes(new));
        go_on(&image, |_| {}).err()
    };
    let area = VPA.0;
    assert_eq!(refused(AREA_PROPERTY, &[area], &[area]), None);
    // Not at a cache line, over a page's end, at 0.
    for wrong in [area + 8, 0x3_0E00, 0] {
        let error = Some(ImageError::Property(AREA_PROPERTY));
        assert_eq!(refused(AREA_PROPERTY, &[area], &[wrong]), error, "{wrong:#x}");
    }
    let log = [area, 3, 8];
    for wrong in [[area, 0, 8], [0, 3, 8], [area, u64::MAX, 8], [MEMORY.bytes, 3, 8]] {
        assert_eq!(refused(LOG, &log, &wrong), Some(ImageError::Property(LOG)), "{wrong:x?}");
    }
    // The machine's time base goes there, and nothing that is added to it wraps.
    let time = refused(GUEST_TIME, &[NOW], &[1 << 62]);
    assert_eq!(time, None);
    for wrong in [(1 << 62) + 1, u64::MAX, 0u64.wrapping_sub(1 << 24)] {
        let error = Some(ImageError::Property(GUEST_TIME));
        assert_eq!(refused(GUEST_TIME, &[NOW], &[wrong]), error, "{wrong:#x}");
    }
    // A line of its own begins with its name; one of the hypervisor's, or a record, would have to begin another.
    for wrong in [*b"hal\nf a", *b"\nalf  a", *b"hal\x17f a"] {
        let mut image = image.clone();
        let old = b"half a";
        property(&mut image, UNFINISHED_LINE, old).copy_from_slice(&wrong[..old.len()]);
        let error = go_on(&image, |_| {}).err();
        assert_eq!(error, Some(ImageError::Property(UNFINISHED_LINE)), "{wrong:?}");
    }
    // The priority that only a hypervisor gives itself is medium.
    let mut image = image.clone();
    let priority = property(&mut image, "ppr", &ppr::MEDIUM.to_be_bytes());
    priority.copy_from_slice(&ppr::PRIORITY.set(0, ppr::HYPERVISOR).to_be_bytes());
    let (_, partition, _) = go_on(&image, |_| {}).unwrap();
    let priorities = partition
        .vcpus
        .iter()
        .map(|vcpu| vcpu.registers.as_ref().map(|registers| registers.supervisor.ppr));
    assert!(priorities.into_iter().all(|priority| priority == Some(ppr::MEDIUM)));
}

#[test]
fn a_sleeper_with_an_alert_of_its_monitor_is_awake() {
    let hal = Fake::new(0x40_0000);
    let mut partition = at_rest(&hal);
    partition.on_demand |= Facility::Pm.bit();
    let mut demanded = Demanded::default();
    assert!(demanded.give(Facility::Pm));
    demanded.monitor.mmcr0 = monitor::FC | monitor::PMAO;
    partition.vcpus[2].demanded = Some(demanded.into());
    begin(&mut partition, &hal, NOW, 0).unwrap();
    let bytes = partition.suspension.unwrap().bytes as usize;
    let image = hal.memory.borrow()[AREA.start.0 as usize..][..bytes].to_vec();
    let (_, _, next) =
        go_on(&image, |partition| partition.on_demand |= Facility::Pm.bit()).unwrap();
    assert_eq!(next[2], Next::Ready);
}

#[test]
fn an_image_that_is_cut_or_of_another_version_is_refused() {
    let (image, _) = suspended();
    let half = go_on(&image[..image.len() / 2], |_| {}).unwrap_err();
    assert!(matches!(half, ImageError::Length { .. }), "{half}");
    for bytes in [0, 7, 8, 100] {
        assert_eq!(go_on(&image[..bytes], |_| {}).unwrap_err(), ImageError::NotAnImage);
    }
    let mut other = image.clone();
    property(&mut other, "compatible", b"powervisor,image-v1")
        .copy_from_slice(b"powervisor,image-v9");
    assert_eq!(go_on(&other, |_| {}).unwrap_err(), ImageError::NotAnImage);
    let mut other = image.clone();
    property(&mut other, "records", &VERSION.to_be_bytes()).copy_from_slice(&9u64.to_be_bytes());
    assert_eq!(go_on(&other, |_| {}).unwrap_err(), ImageError::Records(9));
    let mut other = image;
    let size = property(&mut other, PROCESS_TABLE, &0x8_0000_u64.to_be_bytes());
    size.copy_from_slice(&0x10_0000_u64.to_be_bytes());
    assert_eq!(go_on(&other, |_| {}).unwrap_err(), ImageError::Property(PROCESS_TABLE));
}

#[test]
fn the_time_base_moves_as_far_as_it_has_to_in_whole_steps() {
    assert_eq!(ahead(5, 5), None);
    assert_eq!(ahead(6, 5), None);
    assert_eq!(ahead(5, 6), Some(1 << 24));
    assert_eq!(ahead(5, (1 << 24) + 5), Some(1 << 24));
    assert_eq!(ahead(5, (1 << 24) + 6), Some(2 << 24));
}

proptest! {
    /// Whatever is in it, the hypervisor reads it or refuses it, and gives the partition nothing of anybody else's.
    #[test]
    fn a_garbled_image_is_read_or_refused(place in 0_usize..0x4000, bits in 1..=u8::MAX) {
        let (mut image, _) = suspended();
        image[place] ^= bits;
        if let Ok((hal, partition, next)) = go_on(&image, |_| {}) {
            assert_eq!(partition.vcpus.len(), next.len());
            let hypervisors = !(lpcr::AIL.set(0, 3) | lpcr::ILE | lpcr::GTSE);
            assert!(matches!(lpcr::AIL.get(partition.lpcr), 0 | 3), "{:#x}", partition.lpcr);
            assert_eq!(partition.lpcr & hypervisors, hal.partition(MEMORY).lpcr & hypervisors);
            let (before, after) = (AREA.start.0 as usize, MEMORY.start.0 as usize);
            assert!(hal.memory.borrow()[..after].iter().all(|byte| *byte == 0xA5));
            assert_eq!(&hal.memory.borrow()[before..][..image.len()], &image);
        }
    }
}
