//! What holds of the caches after any accesses: who has what, and who is alone with it.

use proptest::prelude::{Strategy, any, prop_assert, prop_oneof, proptest};
use proptest::sample::select;
use proptest::test_runner::TestCaseError;

use super::Hierarchy;
use crate::cache::line::Line;
use crate::cache::{Kind, LINE_LOG2, Request};
use crate::ledger::{CauseSet, Owner};
use crate::quantity::Bound;
use crate::{Description, description};

/// Two chips of three cores each, with caches so small that everything is pushed out all the time.
fn small() -> Description {
    let mut text = description::POWER9.to_owned();
    for (from, to) in [
        ("chips = 1", "chips = 2"),
        ("cores_per_chip = 1", "cores_per_chip = 3"),
        ("l1d_bytes = { value = 32_768", "l1d_bytes = { value = 2048"),
        ("l1i_bytes = { value = 32_768", "l1i_bytes = { value = 2048"),
        ("l2_bytes = { value = 524_288", "l2_bytes = { value = 4096"),
        ("l3_bytes = { value = 10_485_760", "l3_bytes = { value = 10_240"),
    ] {
        assert!(text.contains(from), "{from}");
        text = text.replace(from, to);
    }
    Description::from_toml(&text).unwrap()
}

#[derive(Clone, Copy, Debug)]
enum Step {
    Access(usize, u64, Kind),
    Flush(u64),
}

fn steps() -> impl Strategy<Value = Step> {
    let kinds = select(vec![Kind::Load, Kind::Store, Kind::Zero, Kind::Fetch, Kind::Walk]);
    prop_oneof![
        30 => (0usize..6, 0u64..300, kinds).prop_map(|(core, line, kind)| Step::Access(core, line, kind)),
        1 => (0u64..300).prop_map(Step::Flush),
    ]
}

fn check(hierarchy: &Hierarchy) -> Result<(), TestCaseError> {
    for core in &hierarchy.cores {
        let l2 = &hierarchy.pairs[core.pair].l2;
        let caches = [(&core.data, core.data_bit), (&core.instructions, core.instruction_bit)];
        for (cache, bit) in caches {
            for line in cache.tags_by_age() {
                let above = l2.find(line).map_or(0, |entry| entry.above);
                prop_assert!(above & bit != 0, "the L2 knows of what is above it: {line}");
            }
        }
    }
    for line in 0..330 {
        let mut holders: Vec<&Line> = Vec::new();
        for pair in &hierarchy.pairs {
            let [l2, l3] = [pair.l2.find(line), pair.l3.find(line)];
            prop_assert!(l2.is_none() || l3.is_none(), "{line} is in L2 and L3");
            holders.extend(l2.or(l3));
        }
        let is_alone = holders.iter().any(|entry| entry.is_exclusive);
        prop_assert!(!is_alone || holders.len() == 1, "{line} is exclusive, and shared");
        let changed = holders.iter().filter(|entry| entry.is_dirty).count();
        prop_assert!(changed <= 1, "{line} has two changed copies");
    }
    Ok(())
}

proptest! {
    #[test]
    fn a_line_is_where_the_rules_allow_it(
        steps in proptest::collection::vec((steps(), any::<bool>()), 1..600),
    ) {
        let mut hierarchy = Hierarchy::new(&small(), Bound::Value, CauseSet::default());
        let mut at = 0;
        for (step, is_partition) in steps {
            at += 20;
            match step {
                Step::Access(thread, line, kind) => {
                    let owner = if is_partition { Owner::Partition { lpid: 1 } } else { Owner::Host };
                    let address = line << LINE_LOG2;
                    let request = Request { thread, line, address, kind, at, owner };
                    let answer = hierarchy.access(&request);
                    prop_assert!(answer.ready >= at);
                }
                Step::Flush(line) => {
                    hierarchy.flush(line, at);
                }
            }
            check(&hierarchy)?;
        }
    }
}
