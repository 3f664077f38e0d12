//! database: one client's queries of a table with a B-tree, in pages of 8 KiB that a small kernel maps when they are
//! touched, through the manager of superpages. For a partition with a hashed page table, or as a kernel of its own
//! (`database-bare`).
//!
//! A query finds a random key from the root down to a leaf, reads its row, and works in registers, which stands for all
//! that a server does for a query besides. An update changes the row, appends to a log, and waits for the disk.
//!
//! | argument | what it does |
//! |---|---|
//! | `superpages=W` | `ours`, as without it; `ours-off`: its code, that makes none; `faithful`, `off` and `without`: the way of FreeBSD's review D25237, its code with superpages off, and the code without them; `first`: the way of its first diff, which has entries of two sizes for an address while it promotes |
//! | `table=N` | MiB of rows and tree, from 1 to 112; 16 without it |
//! | `queries=N` | how many in region 1; 1024 without it |
//! | `spins=N` | rounds of work in registers in each query, of three operations that wait for each other; 0 without it |
//! | `updates=N` | percent of the queries that change the row; 0 without it |
//! | `flush=N` | microseconds that an update waits for the disk: a partition sleeps, a kernel of its own polls; 0 without it |
//! | `seed=N` | which keys |
//! | `naps=N` | so many sleeps of 20 ms in front of the queries; 0 without it |
//! | `memory=N` | MiB that a kernel of its own uses; all in front of firmware without it |
//!
//! Region 2 is the load of table and tree, with the faults. The program looks at each row that it finds, and at all of
//! them in the end; then it takes the updates back, by the log, and counts what is not as it was.

#![cfg_attr(target_os = "none", no_std, no_main)]

#[cfg(target_os = "none")]
mod kernel;
#[cfg(target_os = "none")]
mod tree;

#[cfg(target_os = "none")]
mod payload {
    use arch::marker::{Mark, Region};
    use rt::random::Numbers;

    use crate::kernel;
    use crate::tree::{Database, LOG_BYTES};

    rt::main!(database);

    const QUERIES: Region = Region::new(1).expect("a region number");
    const LOAD: Region = Region::new(2).expect("a region number");
    const MOST_MIB: u64 = ((kernel::BLOCKS as u64 - 1) << superpages::BLOCK_LOG2) >> 20;

    /// Works in registers: each round waits for the one before.
    #[inline]
    fn work(rounds: u64) {
        let mut number = rounds;
        for _ in 0..rounds {
            number = number.wrapping_mul(0x9E37_79B1).rotate_left(7) ^ 13;
        }
        core::hint::black_box(number);
    }

    /// Waits for the disk.
    fn flush(microseconds: u64) {
        let ticks = microseconds * rt::TICKS_PER_MICROSECOND;
        if ticks == 0 {
            return;
        }
        #[cfg(not(feature = "bare"))]
        rt::sleep(ticks);
        #[cfg(feature = "bare")]
        {
            let end = rt::timebase() + ticks;
            while rt::timebase() < end {}
        }
    }

    fn database(partition: rt::Partition) {
        assert!(rt::hash::is_used(), "database needs translation = \"hash\"");
        let name = partition.argument("superpages").unwrap_or("ours");
        let mib = partition.number("table", 16u64);
        assert!(
            (1..=MOST_MIB).contains(&mib),
            "table={mib}: a number from 1 to {MOST_MIB} was expected"
        );
        let queries = partition.number("queries", 1024u64);
        let percent = partition.number("updates", 0u64);
        assert!(percent <= 100, "updates={percent}: a percentage was expected");
        let [spins, microseconds] = ["spins", "flush"].map(|name| partition.number(name, 0u64));
        let mut numbers = Numbers::new(partition.number("seed", 0u64));
        rt::enable_translation(partition.memory_bytes());
        rt::set_decrementer(rt::NEVER);
        let memory = kernel::map(&partition, name, (mib << 20) + LOG_BYTES);

        rt::mark!(Mark::Begin(LOAD));
        let mut database = Database::load(memory);
        rt::mark!(Mark::End(LOAD));
        rt::take_naps(&partition);
        let (mut updates, mut wrong) = (0u64, 0u64);
        rt::mark!(Mark::Begin(QUERIES));
        for _ in 0..queries {
            let place = database.find(database.key(numbers.below(database.rows())));
            let is_right = place.is_some_and(|place| database.is_right(place));
            wrong += u64::from(!is_right);
            work(spins);
            if let Some(place) = place
                && percent > 0
                && numbers.below(100) < percent
            {
                database.update(place, numbers.next() >> 32);
                updates += 1;
                flush(microseconds);
            }
        }
        rt::mark!(Mark::End(QUERIES));
        wrong += database.wrong();
        rt::println!(
            "database: {name}, {mib} MiB, {} rows, {} levels, {queries} queries, {updates} updates, {wrong} wrong",
            database.rows(),
            database.levels()
        );
        kernel::print_counts();
    }
}

#[cfg(not(target_os = "none"))]
fn main() -> std::process::ExitCode {
    eprintln!("database: a bare-metal payload; build it with `cargo xtask images`");
    std::process::ExitCode::from(2)
}
