//! Two vCPUs at one entry of their partition's hashed page table: it is whole, and of one of the two.

use alloc::boxed::Box;
use alloc::vec::Vec;

use arch::address::{GuestRealAddress, RealAddress};
use arch::hash::{first, second};
use arch::papr::hashed::RIGHTS;
use loom::sync::atomic::{Ordering, fence};
use loom::thread::spawn;

use super::machine::{Machine, set_index};
use crate::hash_table::{Checked, Condition, HashTable, Options, Written, form};

/// What both use, for as long as the model's run lasts.
#[derive(Clone, Copy)]
struct Shared {
    hal: &'static Machine,
    table: &'static HashTable,
}

/// What a partition writes for page `number`, at an address of its own.
fn words(number: u64) -> Written {
    [number << 20 | first::V, number << 12 | second::M]
}

fn entry(number: u64) -> Checked {
    let [first, second] = words(number);
    let find = |address: GuestRealAddress, _| Some(RealAddress(address.0));
    Checked::new(form::<Machine>(), first, second, find)
        .expect("an entry that a partition may have")
}

const ANY: Condition = Condition::new(None, None);

impl Shared {
    fn enter(self, slot: u64, number: u64) -> bool {
        self.table.enter(self.hal, slot..slot + 1, &entry(number)).is_some()
    }

    fn remove<const COUNT: usize>(self, slots: [u64; COUNT]) -> [Option<Written>; COUNT] {
        self.table.remove_all(self.hal, slots.map(|slot| Some((slot, ANY))))
    }
}

/// In every order, `other` runs beside `own` on a table that `prepare` has filled;
/// `check` has the results of both.
fn beside<T: Send + 'static>(
    prepare: fn(Shared),
    own: fn(Shared) -> T,
    other: fn(Shared) -> T,
    check: fn(Shared, T, T),
) {
    loom::model(move || {
        let hal: &'static Machine = Box::leak(Box::new(Machine::new(0, 0, |_, _| unreachable!())));
        let table = HashTable::new(hal, 7, 0, Options::default()).expect("a table");
        let shared = Shared { hal, table: Box::leak(Box::new(table)) };
        prepare(shared);
        let other = spawn(move || other(shared));
        let own = own(shared);
        let other = other.join().expect("the other vCPU has not failed");
        check(shared, own, other);
    });
}

#[test]
fn one_of_two_gets_a_slot() {
    beside(
        |_| (),
        |shared| shared.enter(0, 1),
        |shared| shared.enter(0, 2),
        |shared, own, other| {
            assert!(own != other);
            assert_eq!(shared.table.read::<Machine>(0), words(if own { 1 } else { 2 }));
        },
    );
}

#[test]
fn what_is_read_is_an_entry_or_none() {
    beside(
        |shared| assert!(shared.enter(0, 1)),
        |shared| {
            let removed = shared.remove([0]);
            assert_eq!(removed, [Some(words(1))]);
            assert!(shared.enter(0, 2));
            [0; 2]
        },
        |shared| shared.table.read::<Machine>(0),
        |_, _, read| assert!([[0; 2], words(1), words(2)].contains(&read), "{read:x?}"),
    );
}

#[test]
fn each_entry_is_taken_out_once_and_nobody_waits_for_ever() {
    beside(
        |shared| assert!(shared.enter(0, 1) && shared.enter(1, 2)),
        |shared| shared.remove([0, 1]),
        |shared| {
            let [second, first] = shared.remove([1, 0]);
            [first, second]
        },
        |shared, own, other| {
            for (slot, number) in [(0, 1), (1, 2)] {
                let found: Vec<_> = [own[slot], other[slot]].into_iter().flatten().collect();
                assert_eq!(found, [words(number)]);
                assert_eq!(shared.table.read::<Machine>(slot as u64), [0; 2]);
            }
        },
    );
}

#[test]
fn a_thread_that_comes_finds_no_entry_that_its_home_alone_forgets() {
    beside(
        |shared| {
            shared.table.set_home(shared.hal, Some(0));
            assert!(shared.enter(0, 1));
        },
        |shared| {
            set_index(0);
            assert_eq!(shared.remove([0]), [Some(words(1))]);
            u64::from(shared.hal.forgot_here.load(Ordering::Relaxed))
        },
        |shared| {
            set_index(1);
            shared.table.set_home(shared.hal, None);
            // As the partition is entered; then the processor looks into the table.
            fence(Ordering::SeqCst);
            u64::from(shared.table.holds(0))
        },
        |_, forgot_here, found| assert!(forgot_here + found < 2),
    );
}

#[test]
fn rights_change_before_the_entry_goes_or_not_at_all() {
    /// pp=3: all may read.
    const READ_ONLY: u64 = 3;
    const { assert!(RIGHTS & READ_ONLY == READ_ONLY) };
    beside(
        |shared| assert!(shared.enter(0, 1)),
        |shared| shared.remove([0])[0],
        |shared| shared.table.protect(shared.hal, 0, ANY, READ_ONLY).map(|()| [0; 2]),
        |shared, removed, protected| {
            let [first, second] = words(1);
            let rights = if protected.is_some() { READ_ONLY } else { 0 };
            assert_eq!(removed, Some([first, second | rights]));
            assert_eq!(shared.table.read::<Machine>(0), [0; 2]);
        },
    );
}
