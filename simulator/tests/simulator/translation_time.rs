//! What translations cost: ERATs and TLB by footprint, walks by what walk caches leave to read, who waits
//! for a walker, and what invalidations and other owners take away.

use arch::address::GuestRealAddress;
use simulator::Description;
use simulator::cache::{Answer, Hierarchy, TranslationRequest, Translations};
use simulator::ledger::{Cause, CauseSet, Owner};
use simulator::mmu::path::Path;
use simulator::mmu::read::Read;
use simulator::quantity::Bound;
use simulator::state::invalidation::{Extent, Invalidation};
use simulator::state::tlb::{Segment, Space};
use simulator::state::walk_cache::WalkKey;

const POWER9: &str = include_str!("../../../machines/power9.toml");
const POWER8: &str = include_str!("../../../machines/power8.toml");
const HOST: Space = Space::Process { lpid: 0, pid: 0 };
const GUEST: Space = Space::Process { lpid: 5, pid: 9 };

/// Cycles of a hit in the TLB, of a walk beyond its reads, of a read from memory and from the L2.
const ERAT: u64 = 25;
const OVERHEAD: u64 = ERAT + 15;
const MEMORY: u64 = 258;
const L2: u64 = 16;

struct Bench {
    translations: Translations,
    hierarchy: Hierarchy,
    owner: Owner,
    /// Entries that the last walk could have read.
    path_reads: usize,
}

/// The directories of a tree on the way to `input`, and the leaf; each level's tables lie far apart.
fn descend(space: Space, input: u64, base: usize, page_log2: u32) -> Vec<Read> {
    let levels = [39, 30, 21, page_log2];
    let reads = levels.into_iter().enumerate().map(|(level, covers_log2)| {
        let prefix = input >> covers_log2;
        let key = (level < 3).then_some(WalkKey::Directory { space, covers_log2, prefix });
        let place = base + (level << 22) + 8 * (prefix as usize & 0x1FFF);
        Read { place, is_process: space.is_process(), key, words: [0; 2] }
    });
    reads.collect()
}

fn table(space: Space, place: usize) -> Read {
    let key = match space {
        Space::Process { lpid, pid } => WalkKey::ProcessEntry { lpid, pid },
        Space::GuestReal { lpid } | Space::Virtual(Segment { lpid, .. }) => {
            WalkKey::PartitionEntry { lpid }
        }
    };
    Read { place, is_process: space.is_process(), key: Some(key), words: [0; 2] }
}

/// A segment of 1 TiB, in pages of 4 KiB.
const SEGMENT: Space = Space::Virtual(Segment { lpid: 5, vsid: 7, log2: 40, base_log2: 12 });

/// A walk of four levels, or the group that a hashed page table has the page in; in a partition each entry of
/// the process is found by four more reads.
fn path(space: Space, input: u64, page_log2: u32) -> Path {
    if space.is_hashed() {
        let place = 0x4000_0000 + (input >> 12 << 7) as usize % (1 << 28);
        let group = Read { place, is_process: false, key: None, words: [0; 2] };
        return Path { page_log2, guest_real: None, reads: vec![table(space, 0x2800), group] };
    }
    let partition = Space::GuestReal { lpid: space.lpid() };
    let mut reads = vec![table(partition, 0x800 * space.lpid() as usize)];
    let process = [
        vec![table(space, 0x10_0000 + 0x800 * space.pid().unwrap_or(0) as usize)],
        descend(space, input, 0x100_0000, page_log2),
    ];
    for (index, read) in process.into_iter().flatten().enumerate() {
        if space.lpid() != 0 {
            // The tables lie in 2 MB of the partition.
            reads.extend(descend(partition, 0x4000_0000 + 0x1000 * index as u64, 0x200_0000, 12));
        }
        reads.push(read);
    }
    let guest_real = (space.lpid() != 0).then_some(GuestRealAddress(input));
    if guest_real.is_some() {
        reads.extend(descend(partition, input, 0x200_0000, page_log2));
    }
    Path { page_log2, guest_real, reads }
}

impl Bench {
    fn new(cores: u32, threads: u32, free: &[Cause]) -> Self {
        Self::of(POWER9, cores, threads, free)
    }

    /// Of this machine file.
    fn of(text: &str, cores: u32, threads: u32, free: &[Cause]) -> Self {
        let text = text
            .replace("cores_per_chip = 1", &format!("cores_per_chip = {cores}"))
            .replace("threads_per_core = 1", &format!("threads_per_core = {threads}"));
        let description = Description::from_toml(&text).unwrap();
        let free = free.iter().fold(CauseSet::default(), |set, &cause| set.with(cause));
        Self {
            translations: Translations::new(&description, Bound::Value, free),
            hierarchy: Hierarchy::new(&description, Bound::Value, free),
            owner: Owner::Host,
            path_reads: 0,
        }
    }

    fn ask(&mut self, request: &TranslationRequest, page_log2: u32) -> (Answer, bool) {
        let mut reads = None;
        let answer = self.translations.translate(&mut self.hierarchy, request, &mut || {
            let path = path(request.space?, request.address, page_log2);
            reads = Some(path.reads.len());
            Some(path)
        });
        self.path_reads = reads.unwrap_or(0);
        (answer, reads.is_some())
    }

    /// Cycles and cause of a load's translation, with pages of 64 KB.
    fn load(&mut self, space: Space, address: u64, at: u64) -> (u64, Cause) {
        let (answer, _) = self.ask(&self.request(0, space, address, at), 16);
        (answer.ready - at, answer.cause)
    }

    fn request(&self, thread: usize, space: Space, address: u64, at: u64) -> TranslationRequest {
        let owner = self.owner;
        TranslationRequest { thread, space: Some(space), address, is_fetch: false, at, owner }
    }
}

#[test]
fn pages_beyond_erat_and_tlb_cost_what_they_should() {
    for is_fetch in [false, true] {
        let mut bench = Bench::new(1, 1, &[]);
        for (pages, cost) in [(64, 0..=0), (65, 25..=25), (512, 25..=25), (1024, 56..=400)] {
            let mut total = 0;
            for round in 0..2 {
                total = 0;
                for page in 0..pages {
                    let at = 1_000_000 * (round * pages + page);
                    let request =
                        TranslationRequest { is_fetch, ..bench.request(0, HOST, page << 16, at) };
                    total += bench.ask(&request, 16).0.ready - at;
                }
            }
            assert!(cost.contains(&(total / pages)), "{pages} pages: {total} for {cost:?}");
        }
    }
}

/// What the second round through so many pages of a hashed page table costs for each.
fn second_round(bench: &mut Bench, pages: u64) -> u64 {
    let rounds = [0, 1].map(|round| {
        let load = |page: u64| {
            let at = 1_000_000 * (1 + round * pages + page);
            let (answer, _) = bench.ask(&bench.request(0, SEGMENT, page << 12, at), 12);
            answer.ready - at
        };
        (0..pages).map(load).sum::<u64>() / pages
    });
    rounds[1]
}

#[test]
fn the_tlb_holds_twice_as_many_pages_of_a_hashed_page_table() {
    let mixed = |entries| {
        let to = format!("tlb_entries_mixed = {{ value = {entries}");
        POWER9.replace("tlb_entries_mixed = { value = 1024", &to)
    };
    for (entries, has_radix, is_held) in
        [(1024, false, true), (1024, true, true), (512, false, true), (512, true, false)]
    {
        let mut bench = Bench::of(&mixed(entries), 1, 1, &[]);
        if has_radix {
            bench.load(HOST, 0, 0);
        }
        let cost = second_round(&mut bench, 1000);
        assert_eq!(cost == ERAT, is_held, "{entries}, {has_radix}: {cost}");
        assert!(second_round(&mut bench, 2048) > ERAT);
    }
}

#[test]
fn a_search_takes_its_own_time_and_reads_a_line_of_its_group() {
    let mut bench = Bench::new(1, 1, &[]);
    let (first, cause) = bench.load(SEGMENT, 0, 0);
    assert_eq!((first, cause), (ERAT + 20 + 2 * MEMORY, Cause::LoadWalk));
    assert_eq!(bench.load(SEGMENT, 1 << 16, 10_000).0, ERAT + 20 + MEMORY);
}

/// An ERAT's entry is for 16 MiB at most; `tlbie` names the page and takes all of them.
#[test]
fn a_page_of_16_gib_is_several_entries_of_an_erat_and_goes_as_one() {
    let segment = Segment { lpid: 5, vsid: 7, log2: 40, base_log2: 34 };
    let space = Space::Virtual(segment);
    let mut bench = Bench::new(1, 1, &[]);
    let load = |bench: &mut Bench, address, at| {
        let (answer, has_walked) = bench.ask(&bench.request(0, space, address, at), 34);
        (answer.ready - at, has_walked)
    };
    assert!(load(&mut bench, 0, 0).1);
    assert_eq!(load(&mut bench, 0xFF_FFFF, 10_000), (0, false), "the same 16 MiB");
    assert_eq!(load(&mut bench, 0x100_0000, 20_000), (ERAT, false), "the TLB has it");
    assert_eq!(load(&mut bench, 0x100_0000, 30_000), (0, false));
    let invalidation = Invalidation {
        lpid: Some(5),
        is_hashed: true,
        is_process: false,
        extent: Extent::VirtualPage {
            address: segment.virtual_address(0),
            compare_log2: 34,
            segment_log2: 40,
            base_log2: 34,
            page_log2: 34,
        },
        translations: true,
        directories: false,
        tables: false,
    };
    bench.translations.invalidate(0, &invalidation);
    assert!(load(&mut bench, 0x100_0000, 40_000).1, "gone with the first");
}

#[test]
fn a_page_of_any_size_is_one_entry() {
    for page_log2 in [12, 16, 21, 30] {
        let mut bench = Bench::new(1, 1, &[]);
        let first = bench.request(0, HOST, 0xC000_0000_4000_0000, 0);
        assert!(bench.ask(&first, page_log2).1);
        let inside =
            TranslationRequest { address: first.address + (1 << page_log2) - 1, at: 9999, ..first };
        let (answer, has_walked) = bench.ask(&inside, page_log2);
        assert_eq!((answer.ready, has_walked), (9999, false));
        let behind = TranslationRequest { address: first.address + (1 << page_log2), ..inside };
        assert!(bench.ask(&behind, page_log2).1);
    }
}

#[test]
fn a_walk_reads_what_walk_caches_do_not_know() {
    let mut bench = Bench::new(1, 1, &[]);
    // Partition-table entry, process-table entry, three directories and the leaf.
    assert_eq!(bench.load(HOST, 0, 0), (OVERHEAD + 6 * MEMORY, Cause::LoadWalk));
    // The leaf of the next page lies in the same line.
    assert_eq!(bench.load(HOST, 1 << 16, 10_000), (OVERHEAD + L2, Cause::LoadWalk));
    // Another directory of 2 MB, in the same line too, and its leaf.
    assert_eq!(bench.load(HOST, 1 << 21, 20_000), (OVERHEAD + L2 + MEMORY, Cause::LoadWalk));
    assert_eq!(bench.load(HOST, 1, 30_000), (0, Cause::LoadErat));
}

#[test]
fn a_walk_in_a_partition_is_two_walks() {
    let mut bench = Bench::new(1, 1, &[]);
    let (first, _) = bench.load(GUEST, 0, 0);
    assert_eq!(bench.path_reads, 1 + 5 * 5 + 4);
    // The leaf's place (a leaf), the leaf, and the page's place (a leaf).
    let (next, cause) = bench.load(GUEST, 1 << 16, 100_000);
    assert_eq!((next, cause), (OVERHEAD + 3 * L2, Cause::LoadWalk));
    // The partition's directories are known after the process-table entry, but not the leaves.
    let own = 1 + 4 + 1 + 4 * 2 + 4;
    assert!(first > OVERHEAD + 8 * MEMORY && first < OVERHEAD + own * MEMORY, "{first}");
}

#[test]
fn walks_beyond_the_walkers_wait() {
    let mut bench = Bench::new(1, 1, &[]);
    bench.load(HOST, 0, 0);
    // Pages of which no two have an entry in the same line.
    let page = |index: u64| index * 16 * ((1 << 39) + (1 << 30) + (1 << 21) + (1 << 16));
    let walks: Vec<u64> = (1..=5).map(|index| bench.load(HOST, page(index), 100_000).0).collect();
    let [one, two] = [4, 8].map(|reads| OVERHEAD + reads * MEMORY);
    assert_eq!(walks, [one, one, one, one, two], "the fifth waits for the first");
    let early = bench.load(HOST, page(6), 50_000).0;
    assert_eq!(early, one, "walks of what is to come keep nobody waiting");
}

#[test]
fn a_page_that_is_on_its_way_is_waited_for() {
    let mut bench = Bench::new(1, 1, &[]);
    let (first, _) = bench.load(HOST, 0, 1000);
    assert_eq!(bench.load(HOST, 64, 1100), (first - 100, Cause::LoadWalk));
    let fetch = TranslationRequest { is_fetch: true, ..bench.request(0, HOST, 128, 1200) };
    let (answer, has_walked) = bench.ask(&fetch, 16);
    assert_eq!((answer.ready, answer.cause), (1000 + first, Cause::FetchWalk));
    assert!(!has_walked, "the TLB will have it");
}

#[test]
fn odd_threads_have_another_data_erat() {
    let mut bench = Bench::new(1, 4, &[]);
    bench.load(HOST, 0, 0);
    for (thread, cost) in [(2, 0), (1, ERAT), (3, 0)] {
        let at = 10_000 * (1 + thread as u64);
        let (answer, _) = bench.ask(&bench.request(thread, HOST, 0, at), 16);
        assert_eq!(answer.ready - at, cost, "thread {thread}");
    }
}

#[test]
fn real_addresses_of_the_hypervisor_cost_nothing() {
    let mut bench = Bench::new(1, 1, &[]);
    let request = TranslationRequest { space: None, ..bench.request(0, HOST, 0x1000, 77) };
    let (answer, has_walked) = bench.ask(&request, 16);
    assert_eq!((answer.ready, has_walked), (77, false));
}

#[test]
fn what_is_invalidated_is_walked_again_and_nothing_else_is() {
    let everything = Invalidation {
        lpid: Some(5),
        is_hashed: false,
        is_process: true,
        extent: Extent::Everything,
        translations: true,
        directories: false,
        tables: false,
    };
    let page = |pid, address| Extent::Page { pid, address, page_log2: 16 };
    let other_process = Space::Process { lpid: 5, pid: 8 };
    let other_partition = Space::Process { lpid: 6, pid: 9 };
    // Which of GUEST at 0 and at 1 << 16, the other process and the other partition are gone.
    for (invalidation, gone) in [
        (everything, [true, true, true, false]),
        (Invalidation { lpid: None, ..everything }, [true; 4]),
        (Invalidation { extent: Extent::Pid(9), ..everything }, [true, true, false, false]),
        (Invalidation { extent: page(Some(9), 0x42), ..everything }, [true, false, false, false]),
        (
            Invalidation { is_process: false, extent: page(None, 0x42), ..everything },
            [true, false, true, false],
        ),
        (Invalidation { is_process: false, ..everything }, [true, true, true, false]),
        (Invalidation { translations: false, directories: true, ..everything }, [false; 4]),
    ] {
        let mut bench = Bench::new(1, 1, &[]);
        let pages = [(GUEST, 0), (GUEST, 1 << 16), (other_process, 0), (other_partition, 0)];
        for (index, (space, address)) in pages.into_iter().enumerate() {
            bench.load(space, address, 100_000 * index as u64);
        }
        bench.translations.invalidate(0, &invalidation);
        let found = pages
            .map(|(space, address)| bench.ask(&bench.request(0, space, address, 1_000_000), 16).1);
        assert_eq!(found, gone, "{invalidation:?}");
    }
}

#[test]
fn directories_that_are_invalidated_are_read_again() {
    let invalidation = |directories, tables| Invalidation {
        lpid: Some(0),
        is_hashed: false,
        is_process: true,
        extent: Extent::Everything,
        translations: true,
        directories,
        tables,
    };
    for (what, reads) in [
        (invalidation(false, false), 1),
        (invalidation(true, false), 4),
        (invalidation(true, true), 5),
    ] {
        let mut bench = Bench::new(1, 1, &[]);
        bench.load(HOST, 0, 0);
        bench.translations.invalidate(0, &what);
        let (cost, _) = bench.load(HOST, 0, 100_000);
        assert_eq!(cost, OVERHEAD + reads * L2, "{what:?}");
    }
}

#[test]
fn erats_are_flushed_and_the_tlb_is_not() {
    let mut bench = Bench::new(2, 1, &[]);
    bench.load(HOST, 0, 0);
    bench.translations.flush_erats(1);
    assert_eq!(bench.load(HOST, 0, 10_000).0, 0, "another core's");
    bench.translations.flush_erats(0);
    assert_eq!(bench.load(HOST, 0, 20_000), (ERAT, Cause::LoadErat));
}

#[test]
fn an_entry_lost_to_another_owner_is_a_refill() {
    let owner = Owner::Partition { lpid: 5 };
    // As many pages as push one out of the ERAT, and of its set of the TLB.
    for (stride, pages, cause) in [(1 << 16, 64, Cause::LoadErat), (128 << 16, 64, Cause::LoadWalk)]
    {
        for (pusher, is_refill) in [(owner, false), (Owner::Host, true)] {
            let mut bench = Bench::new(1, 1, &[]);
            bench.owner = owner;
            bench.load(GUEST, 0, 0);
            bench.owner = pusher;
            for page in 1..=pages {
                bench.load(HOST, page * stride, 100_000 * page);
            }
            bench.owner = owner;
            let (answer, _) = bench.ask(&bench.request(0, GUEST, 0, 100_000_000), 16);
            assert_eq!((answer.cause, answer.is_refill), (cause, is_refill), "{pusher:?}");
        }
    }
}

/// What POWER8's second ERAT has was walked for, and is no walk any more.
#[test]
fn a_page_in_the_second_erat_is_no_walk() {
    let mut bench = Bench::of(POWER8, 1, 1, &[]);
    let round = |bench: &mut Bench, at: u64| {
        let ask =
            |page: u64| bench.ask(&bench.request(0, SEGMENT, page << 12, at + 100_000 * page), 12);
        (0..100_u64).map(ask).map(|(answer, _)| answer.cause).collect::<Vec<_>>()
    };
    assert_eq!(round(&mut bench, 0), [Cause::LoadWalk; 100]);
    assert_eq!(round(&mut bench, 100_000_000), [Cause::LoadErat; 100]);
}

#[test]
fn what_is_free_costs_nothing() {
    let mut bench = Bench::new(1, 1, &[Cause::LoadWalk]);
    assert_eq!(bench.load(HOST, 0, 0), (ERAT, Cause::LoadErat));
    let mut bench = Bench::new(1, 1, &[Cause::LoadWalk, Cause::LoadErat]);
    assert_eq!(bench.load(HOST, 0, 0), (0, Cause::LoadErat));
    let mut bench = Bench::new(1, 1, &[Cause::LoadMemory]);
    let (cost, cause) = bench.load(HOST, 0, 0);
    assert_eq!((cost, cause), (OVERHEAD + 6 * MEMORY, Cause::LoadWalk), "a walk is a walk");
}

#[test]
fn saved_translations_go_on_as_those_they_were_saved_from() {
    let mut bench = Bench::new(2, 2, &[]);
    let run = |bench: &mut Bench, from: u64| {
        let mut sum = 0_u64;
        for index in from..from + 3000 {
            bench.owner = Owner::Partition { lpid: (index % 3) as u32 };
            let space = if index % 5 == 0 { HOST } else { GUEST };
            let address = (index.wrapping_mul(0x9E37_79B9) % 1500) << 16;
            let thread = (index / 8) as usize % 4;
            let (answer, _) = bench.ask(&bench.request(thread, space, address, 40 * index), 16);
            sum = sum.wrapping_mul(31).wrapping_add(answer.ready + u64::from(answer.is_refill));
        }
        sum
    };
    run(&mut bench, 0);
    let saved = postcard::to_stdvec(&(&bench.translations, &bench.hierarchy)).unwrap();
    let (translations, hierarchy) = postcard::from_bytes(&saved).unwrap();
    let mut restored = Bench { translations, hierarchy, owner: bench.owner, path_reads: 0 };
    assert_eq!(run(&mut restored, 3000), run(&mut bench, 3000));
    assert_eq!(restored.translations, bench.translations);
    assert_eq!(restored.hierarchy, bench.hierarchy);
}

/// A partition's kernel may use every PID there is, in as many partitions as there are: more than tags have room for.
#[test]
fn more_spaces_than_tags_can_name_cost_a_walk_each_and_mix_up_nothing() {
    const SPACES: u32 = (1 << 21) + 1000;
    let mut bench = Bench::new(1, 1, &[]);
    let space = |number: u32| Space::Process { lpid: 1 + number % 4, pid: number / 4 };
    let (mut at, mut walks) = (0, 0);
    for number in 0..SPACES {
        at += 100_000;
        let request = bench.request(0, space(number), 0x5000, at);
        let (_, has_walked) = bench.ask(&request, 16);
        walks += u32::from(has_walked);
    }
    assert_eq!(walks, SPACES, "none finds a translation of another");
    // The last ones are where they would be.
    for number in SPACES - 60..SPACES {
        let request = bench.request(0, space(number), 0x5000, at);
        assert!(!bench.ask(&request, 16).1, "{number}");
    }
    let invalidation = Invalidation {
        lpid: None,
        is_hashed: false,
        is_process: true,
        extent: Extent::Everything,
        translations: true,
        directories: true,
        tables: true,
    };
    bench.translations.invalidate(0, &invalidation);
    let request = bench.request(0, space(SPACES - 1), 0x5000, at);
    assert!(bench.ask(&request, 16).1);
}
