//! The kernel: demand faults, memory by reservations, and the manager of superpages.

use arch::hash::second;
use arch::interrupt::Vector;
use process::PageTable;
use rt::hash::Segment;
use spin::Mutex;
use superpages::reservation::Reservations;
use superpages::{BLOCK_LOG2, Faithful, Manager, Mapping, Ours, PAGE_LOG2, Promotion, Refusal};

/// Blocks of the address space.
pub(crate) const BLOCKS: usize = 8;
/// Where the database is, and its segment.
const BASE: u64 = 1 << 40;
const SEGMENT: Segment = Segment { vsid: 0x65_4321, base_log2: PAGE_LOG2 };
/// Its place in the segment lookaside buffer.
const SEGMENT_INDEX: u64 = 2;
/// Attributes of memory that privileged state may write to, and nobody executes.
const READ_WRITE: u64 = second::M | second::N;
/// The table in which its pages are.
const PAGE_TABLE: PageTable = PageTable::own(SEGMENT);

/// Which manager there is.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Way {
    Ours,
    Rival,
    Without,
}

struct Kernel {
    way: Way,
    /// Pages of the database.
    pages: usize,
    memory: Reservations<BLOCKS>,
    /// Pages that were touched.
    touched: u64,
}

/// What the faults need, locked in front of a manager.
static KERNEL: Mutex<Kernel> =
    Mutex::new(Kernel { way: Way::Ours, pages: 0, memory: Reservations::none(), touched: 0 });
static OURS: Mutex<Ours<BLOCKS, 1>> = Mutex::new(Ours::new(false));
static FAITHFUL: Mutex<Faithful<BLOCKS, true>> = Mutex::new(Faithful::new(Promotion::Never));
static WITHOUT: Mutex<Faithful<BLOCKS, false>> = Mutex::new(Faithful::new(Promotion::Never));

/// Gives so many bytes, page by page when they are touched.
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
    OURS.lock().set_promotes(superpages == "ours");
    FAITHFUL.lock().set_promotion(Promotion::of_variant(superpages));
    let free = partition.free_memory();
    kernel.memory.give(free.start, free.end);
    let blocks = bytes.div_ceil(1 << BLOCK_LOG2) as usize;
    let available = kernel.memory.available();
    assert!(
        blocks <= available,
        "table: {blocks} free blocks of 16 MiB were expected, the partition's memory has {available}"
    );
    kernel.pages = (bytes >> PAGE_LOG2) as usize;
    let begin = ((kernel.memory.start() - free.start) / 8) as usize;
    let memory = &mut partition.take_free_memory()[begin..begin + (bytes / 8) as usize];
    rt::on_interrupt(Vector::DataStorage, data_storage);
    rt::on_interrupt(Vector::DataSegment, data_segment);
    rt::hash::move_memory(memory, BASE)
}

/// The page of the database with this address; the payload ends if there is none.
fn page_of(address: u64, frame: &rt::Frame, kernel: &Kernel) -> usize {
    let page = (address.wrapping_sub(BASE) >> PAGE_LOG2) as usize;
    assert!(page < kernel.pages, "no page at {address:#x}, accessed at {:#x}", frame.pc);
    page
}

fn data_segment(frame: &mut rt::Frame) {
    page_of(rt::data_fault().0, frame, &KERNEL.lock());
    SEGMENT.load(BASE, SEGMENT_INDEX);
}

fn data_storage(frame: &mut rt::Frame) {
    let (address, cause) = rt::data_fault();
    let mut kernel = KERNEL.lock();
    let page = page_of(address, frame, &kernel);
    let served = match kernel.way {
        Way::Ours => serve(&mut *OURS.lock(), &mut kernel, page),
        Way::Rival => serve(&mut *FAITHFUL.lock(), &mut kernel, page),
        Way::Without => serve(&mut *WITHOUT.lock(), &mut kernel, page),
    };
    served.unwrap_or_else(|refusal| panic!("page {page}, DSISR {cause:#x}: {refusal:?}"));
}

fn serve(manager: &mut impl Manager, kernel: &mut Kernel, page: usize) -> Result<(), Refusal> {
    let table = &mut { PAGE_TABLE };
    if manager.fault(table, page)? {
        return Ok(());
    }
    let (real, is_full) = kernel.memory.take(page).expect("there is a block for each");
    kernel.touched += 1;
    manager.enter(table, page, Mapping::new(real, READ_WRITE), is_full)
}

/// Prints what the manager has done.
pub(crate) fn print_counts() {
    let kernel = KERNEL.lock();
    let counts = match kernel.way {
        Way::Ours => OURS.lock().counts(),
        Way::Rival => FAITHFUL.lock().counts(),
        Way::Without => WITHOUT.lock().counts(),
    };
    rt::println!(
        "database: {} pages touched, {} promotions, {} demotions, {} failed attempts",
        kernel.touched,
        counts.promotions,
        counts.demotions,
        counts.failures.total()
    );
}
