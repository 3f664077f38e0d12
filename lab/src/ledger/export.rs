//! A ledger for other tools: folded stacks, and a flame graph made of them.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use inferno::flamegraph;

use super::Ledger;

/// One line a stack: `owner;function;instruction;cause CYCLES`, as flame-graph tools read it.
#[must_use]
pub fn folded(ledger: &Ledger) -> String {
    let mut stacks: BTreeMap<String, u64> = BTreeMap::new();
    for charge in &ledger.charges {
        // A semicolon separates frames.
        let frames = [&charge.owner, &charge.function, &charge.place(), &charge.why()]
            .map(|frame| frame.replace(';', ","));
        *stacks.entry(frames.join(";")).or_default() += charge.cycles;
    }
    stacks.into_iter().fold(String::new(), |mut text, (stack, cycles)| {
        let _ = writeln!(text, "{stack} {cycles}");
        text
    })
}

/// A flame graph (SVG) of the folded stacks.
///
/// # Errors
/// Whatever the graph's writer says; an empty ledger has no graph.
pub fn flame_graph(ledger: &Ledger, title: &str) -> std::io::Result<Vec<u8>> {
    let mut options = flamegraph::Options::default();
    options.title = title.to_owned();
    options.count_name = "cycles".to_owned();
    // The same ledger gives the same picture.
    options.deterministic = true;
    let folded = folded(ledger);
    let mut graph = Vec::new();
    flamegraph::from_lines(&mut options, folded.lines(), &mut graph)
        .map_err(std::io::Error::other)?;
    Ok(graph)
}

#[cfg(test)]
mod tests {
    use super::{flame_graph, folded};
    use crate::ledger::examples::ledger;

    #[test]
    fn stacks_fold_by_owner_function_instruction_and_cause() {
        let ledger = ledger(&[
            ("hypervisor", "<[u8; 4]>::exit", 4, "load.l1", false, 600),
            ("hypervisor", "<[u8; 4]>::exit", 4, "load.l1", false, 1),
        ]);
        assert_eq!(folded(&ledger), "hypervisor;<[u8, 4]>::exit;+0x4 mfspr r3,lpcr;load.l1 601\n");
        let graph = String::from_utf8(flame_graph(&ledger, "a title").unwrap()).unwrap();
        assert!(graph.contains("<svg") && graph.contains("a title"));
    }
}
