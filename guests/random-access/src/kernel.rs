//! The kernel: demand faults, memory by reservations, and the manager of superpages.

use arch::hash::second;
use arch::interrupt::{Vector, storage};
use process::PageTable;
use rt::hash::Segment;
use spin::Mutex;
use superpages::reservation::Reservations;
use superpages::{BLOCK_LOG2, Faithful, Manager, Mapping, Ours, PAGE_LOG2, Promotion, Refusal};

/// Blocks of the address space.
pub(crate) const BLOCKS: usize = 32;
/// The same where the rival has it: it has 4096 records for each, used or not.
pub(crate) const BLOCKS_OF_RIVAL: usize = 16;
/// Where the table is, and its segment.
const TABLE: u64 = 1 << 40;
const SEGMENT: Segment = Segment { vsid: 0x65_4321, base_log2: PAGE_LOG2 };
/// Its place in the segment lookaside buffer.
const SEGMENT_INDEX: u64 = 2;

/// Attributes of memory that privileged state may write to, and of memory that it may read; neither is executed.
const READ_WRITE: u64 = second::M | second::N;
const READ: u64 = READ_WRITE | 3;

/// Whose manager the kernel has.
#[derive(Clone, Copy)]
enum Way {
    Ours,
    Rival,
    Without,
}

/// What the faults need, in the order in which it is locked.
static KERNEL: Mutex<Kernel> = Mutex::new(Kernel {
    way: Way::Ours,
    is_shared: false,
    pages: 0,
    memory: Reservations::none(),
    touched: 0,
    wired: 0,
    faults: 0,
    missed: 0,
    refused: 0,
    evicted: 0,
});
/// One block may have wired pages and others, and another a page that is read-only for a moment.
static OURS: Mutex<Ours<BLOCKS, 2>> = Mutex::new(Ours::new(false));
static RIVAL: Mutex<Faithful<BLOCKS_OF_RIVAL, true>> = Mutex::new(Faithful::new(Promotion::Never));
static WITHOUT: Mutex<Faithful<BLOCKS_OF_RIVAL, false>> =
    Mutex::new(Faithful::new(Promotion::Never));

/// What the kernel's manager answers.
macro_rules! ask {
    ($kernel:ident, |$manager:ident| $question:expr) => {
        match $kernel.way {
            Way::Ours => {
                let $manager = &mut *OURS.lock();
                $question
            }
            Way::Rival => {
                let $manager = &mut *RIVAL.lock();
                $question
            }
            Way::Without => {
                let $manager = &mut *WITHOUT.lock();
                $question
            }
        }
    };
}

struct Kernel {
    way: Way,
    /// Others read the table too.
    is_shared: bool,
    /// Pages of the table.
    pages: usize,
    memory: Reservations<BLOCKS>,
    /// Pages that were touched.
    touched: u64,
    /// Pages at the table's beginning that were wired.
    wired: usize,
    /// Storage interrupts.
    faults: u64,
    /// Those in wired pages that lacked their entry.
    missed: u64,
    /// Stores into pages that may not be stored into.
    refused: u64,
    /// Entries that had to make room for others.
    evicted: usize,
}

impl Kernel {
    /// The table in which its pages are.
    const fn table(&self) -> PageTable {
        if self.is_shared {
            return PageTable::shared(SEGMENT);
        }
        PageTable::own(SEGMENT)
    }
}

/// Maps a table of so many bytes, page by page when they are touched.
pub(crate) fn map(partition: &rt::Partition, superpages: &str, bytes: u64) -> &'static mut [u64] {
    let mut kernel = KERNEL.lock();
    kernel.way = match superpages {
        "ours" | "ours-off" => Way::Ours,
        "faithful" | "first" | "off" => Way::Rival,
        "without" => Way::Without,
        other => {
            panic!("superpages={other}: without, off, faithful, first, ours-off and ours are known")
        }
    };
    kernel.is_shared = partition.number("readers", 0u64) > 0;
    RIVAL.lock().set_promotion(Promotion::of_variant(superpages));
    OURS.lock().set_promotes(superpages == "ours");
    let free = partition.free_memory();
    kernel.memory.give(free.start, free.end);
    let blocks = bytes.div_ceil(1 << BLOCK_LOG2) as usize;
    assert!(
        blocks <= BLOCKS_OF_RIVAL || matches!(kernel.way, Way::Ours),
        "superpages={superpages}: a table of at most {} MiB was expected",
        BLOCKS_OF_RIVAL << (BLOCK_LOG2 - 20)
    );
    let available = kernel.memory.available();
    assert!(
        blocks <= available,
        "table={}: {blocks} free blocks of 16 MiB were expected, the partition's memory has {available}",
        bytes >> 20
    );
    kernel.pages = (bytes >> PAGE_LOG2) as usize;
    let begin = ((kernel.memory.start() - free.start) / 8) as usize;
    let memory = &mut partition.take_free_memory()[begin..begin + (bytes / 8) as usize];
    rt::on_interrupt(Vector::DataStorage, data_storage);
    rt::on_interrupt(Vector::DataSegment, data_segment);
    rt::hash::move_memory(memory, TABLE)
}

/// The page of the table with this address; the payload ends if there is none.
fn page_of(address: u64, frame: &rt::Frame, kernel: &Kernel) -> usize {
    let page = (address.wrapping_sub(TABLE) >> PAGE_LOG2) as usize;
    assert!(page < kernel.pages, "no page at {address:#x}, accessed at {:#x}", frame.pc);
    page
}

fn data_segment(frame: &mut rt::Frame) {
    page_of(rt::data_fault().0, frame, &KERNEL.lock());
    SEGMENT.load(TABLE, SEGMENT_INDEX);
}

fn data_storage(frame: &mut rt::Frame) {
    let (address, cause) = rt::data_fault();
    let mut kernel = KERNEL.lock();
    kernel.faults += 1;
    let page = page_of(address, frame, &kernel);
    if cause & storage::PROTECTION != 0 {
        kernel.refused += 1;
    } else if page < kernel.wired {
        kernel.missed += 1;
    }
    let kernel = &mut *kernel;
    ask!(kernel, |manager| with_room(manager, kernel, page, |manager, kernel| {
        serve(manager, kernel, page, cause)
    }));
}

/// Does what a page needs an entry for, while entries of others go where there is no room.
fn with_room<M: Manager>(
    manager: &mut M,
    kernel: &mut Kernel,
    page: usize,
    mut work: impl FnMut(&mut M, &mut Kernel) -> Result<(), Refusal>,
) {
    loop {
        match work(manager, kernel) {
            Ok(()) => break,
            Err(Refusal::TableFull) if make_room(manager, kernel, page) => (),
            Err(refusal) => panic!("page {page}: {refusal:?}"),
        }
    }
}

/// Takes an entry out of one of the groups of a page: whether there was one that may go. Those pages share a group
/// whose numbers differ from the page's, or from its complement, by a multiple of the number of groups.
fn make_room(manager: &mut impl Manager, kernel: &mut Kernel, page: usize) -> bool {
    let groups = rt::hash::groups() as usize;
    let others =
        || [page, !page].into_iter().flat_map(|base| (base % groups..kernel.pages).step_by(groups));
    let first = kernel.evicted % others().count().max(1);
    let mut victims = others().skip(first).chain(others().take(first));
    let is_done =
        victims.any(|victim| victim != page && manager.evict(&mut kernel.table(), victim));
    kernel.evicted += usize::from(is_done);
    is_done
}

fn serve(
    manager: &mut impl Manager,
    kernel: &mut Kernel,
    page: usize,
    cause: u64,
) -> Result<(), Refusal> {
    let table = &mut kernel.table();
    if cause & storage::PROTECTION != 0 {
        manager.protect(table, page..page + 1, READ_WRITE)?;
    }
    if manager.fault(table, page)? {
        return Ok(());
    }
    let (real, is_full) = kernel.memory.take(page).expect("there is a block for each");
    kernel.touched += 1;
    manager.enter(table, page, Mapping::new(real, READ_WRITE), is_full)
}

/// The page of the table with this word.
fn page_with(word: *const u64) -> usize {
    ((word as u64 - TABLE) >> PAGE_LOG2) as usize
}

/// Makes the page of a word of the table read-only; the fault of the next store allows it again.
pub(crate) fn forbid_stores(word: *const u64) {
    let (kernel, page) = (KERNEL.lock(), page_with(word));
    let pages = page..page + 1;
    let done = ask!(kernel, |manager| manager.protect(&mut kernel.table(), pages, READ));
    // Where there is no room for its entry, the next access makes it.
    assert!(matches!(done, Ok(()) | Err(Refusal::TableFull)), "page {page}: {done:?}");
}

/// Wires so many pages at the table's beginning.
pub(crate) fn wire(pages: usize) {
    let mut kernel = KERNEL.lock();
    assert!(pages <= kernel.pages, "wired={pages}: at most {} were expected", kernel.pages);
    let kernel = &mut *kernel;
    ask!(kernel, |manager| {
        let done = manager.set_wired(&mut kernel.table(), 0..pages, true);
        if done == Err(Refusal::TableFull) {
            (0..pages).for_each(|page| {
                with_room(manager, kernel, page, |manager, kernel| {
                    manager.set_wired(&mut kernel.table(), page..page + 1, true)
                });
            });
        } else {
            done.unwrap_or_else(|refusal| panic!("wired={pages}: {refusal:?}"));
        }
    });
    kernel.wired = pages;
}

/// Accesses to wired pages that found no entry.
pub(crate) fn missed() -> u64 {
    KERNEL.lock().missed
}

/// Forgets that the page of a word was stored into.
pub(crate) fn launder(word: *const u64) {
    let (mut kernel, page) = (KERNEL.lock(), page_with(word));
    let kernel = &mut *kernel;
    ask!(kernel, |manager| {
        // Without an entry it would count as changed.
        with_room(manager, kernel, page, |manager, kernel| {
            manager.fault(&mut kernel.table(), page).map(drop)
        });
        manager.clear_changed(&mut kernel.table(), page);
    });
}

/// Whether the page of a word was stored into since, as far as anybody knows.
pub(crate) fn is_changed(word: *const u64) -> bool {
    let (kernel, page) = (KERNEL.lock(), page_with(word));
    let marks = ask!(kernel, |manager| manager.marks(&mut kernel.table(), page));
    marks.is_some_and(|marks| marks.changed)
}

/// Whether the page of a word is the one that its frame leads to.
pub(crate) fn is_found_by_its_frame(word: *const u64) -> bool {
    let (kernel, page) = (KERNEL.lock(), page_with(word));
    ask!(kernel, |manager| {
        let mapping = manager.mapping(page);
        mapping.is_some_and(|mapping| manager.showing(mapping.real(), 0) == Some(page))
    })
}

/// How many stores were refused so far.
pub(crate) fn refused() -> u64 {
    KERNEL.lock().refused
}

/// How many storage interrupts were taken so far.
pub(crate) fn faults() -> u64 {
    KERNEL.lock().faults
}

/// Prints what the manager has done.
pub(crate) fn print_counts(flips: usize) {
    let kernel = KERNEL.lock();
    let counts = ask!(kernel, |manager| manager.counts());
    rt::println!(
        "random-access: {} pages touched, {flips} made read-only, {} promotions, {} demotions, {} failed attempts",
        kernel.touched,
        counts.promotions,
        counts.demotions,
        counts.failures.total()
    );
    if kernel.evicted > 0 {
        rt::println!("random-access: entries made room for others");
    }
}
