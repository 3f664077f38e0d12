//! A ledger for other tools: folded stacks, and a flame graph made of them, or of the difference of two.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use inferno::differential;
use inferno::flamegraph::color::{Color, PaletteMap};
use inferno::flamegraph::{self, Options, TextTruncateDirection};

use super::difference::Divided;
use super::{Called, Charge, Ledger};

/// One line a stack: `owner;function;instruction;cause CYCLES`, as flame-graph tools read it. Where the ledger
/// knows who called, the callers are behind the owner, the outermost first; functions that the compiler has put into
/// another one are behind it.
#[must_use]
pub fn folded(ledger: &Ledger) -> String {
    let mut stacks: BTreeMap<String, u64> = BTreeMap::new();
    for (callers, charge) in lines(ledger) {
        *stacks.entry(frames(callers, charge).join(";")).or_default() += charge.cycles;
    }
    stacks.into_iter().fold(String::new(), |mut text, (stack, cycles)| {
        let _ = writeln!(text, "{stack} {cycles}");
        text
    })
}

/// Every line of a ledger, with those who called it where that is known.
fn lines(ledger: &Ledger) -> Box<dyn Iterator<Item = (&[String], &Charge)> + '_> {
    if ledger.called.is_empty() {
        Box::new(ledger.charges.iter().map(|charge| (&[][..], charge)))
    } else {
        Box::new(ledger.called.iter().map(|Called { callers, charge }| (&callers[..], charge)))
    }
}

/// The frames of a line's stack.
fn frames(callers: &[String], charge: &Charge) -> Vec<String> {
    let owner = std::iter::once(charge.owner.clone());
    let functions = std::iter::once(charge.function.clone()).chain(charge.inlined.clone());
    let place = [charge.place(), charge.why()];
    let frames = owner.chain(callers.to_vec()).chain(functions).chain(place);
    // A semicolon separates frames.
    frames.map(|frame| frame.replace(';', ",")).collect()
}

/// A flame graph (SVG) of the folded stacks.
///
/// # Errors
/// Whatever the graph's writer says; an empty ledger has no graph.
pub fn flame_graph(ledger: &Ledger, title: &str) -> std::io::Result<Vec<u8>> {
    let mut options = options(title);
    let mut colours = colours(ledger);
    options.palette_map = Some(&mut colours);
    let folded = folded(ledger);
    let mut graph = Vec::new();
    flamegraph::from_lines(&mut options, folded.lines(), &mut graph)
        .map_err(std::io::Error::other)?;
    Ok(graph)
}

fn options(title: &str) -> Options<'static> {
    let mut options = Options::default();
    options.title = title.to_owned();
    options.count_name = "cycles".to_owned();
    // The same ledger gives the same picture.
    options.deterministic = true;
    // What tells functions apart is at the begin of their names.
    options.text_truncate_direction = TextTruncateDirection::Right;
    options
}

/// A flame graph (SVG) of `after`, with the causes that became dearer since `before` in red and those that
/// became cheaper in blue; other frames, and what did not change, have no colour. Where the numbers of calls
/// differ, `before` counts as if it had as many as `after`.
///
/// # Errors
/// Whatever the graph's writer says; an empty ledger has no graph.
pub fn difference_graph(
    (before, calls_before): Divided<'_>,
    (after, calls_after): Divided<'_>,
    title: &str,
) -> std::io::Result<Vec<u8>> {
    let ratio = calls_after as f64 / calls_before as f64;
    let scaled = before.charges.iter().cloned().map(|charge| Charge {
        cycles: if calls_before == calls_after {
            charge.cycles
        } else {
            (charge.cycles as f64 * ratio).round() as u64
        },
        ..charge
    });
    let before = folded(&Ledger { charges: scaled.collect(), called: Vec::new(), ..*before });
    let after = folded(after);
    let mut both = Vec::new();
    let (before, after) = (before.as_bytes(), after.as_bytes());
    differential::from_readers(differential::Options::default(), before, after, &mut both)?;
    let mut graph = Vec::new();
    flamegraph::from_reader(&mut options(title), &both[..], &mut graph)
        .map_err(std::io::Error::other)?;
    Ok(graph)
}

/// Colours that can be told apart, by who does not see all colours too (Okabe and Ito), and gray for the rest.
const COLOURS: [[u8; 3]; 8] = [
    [86, 180, 233],
    [230, 159, 0],
    [0, 158, 115],
    [204, 121, 167],
    [213, 94, 0],
    [240, 228, 66],
    [0, 114, 178],
    [160, 160, 160],
];

/// The colour of each frame: that of the group of causes, such as `flush`, that has most of its cycles.
fn colours(ledger: &Ledger) -> PaletteMap {
    let mut by_frame: BTreeMap<String, BTreeMap<&str, u64>> = BTreeMap::new();
    let mut groups: BTreeMap<&str, u64> = BTreeMap::new();
    for (callers, charge) in lines(ledger) {
        let group = charge.cause.split('.').next().unwrap_or_default();
        *groups.entry(group).or_default() += charge.cycles;
        for frame in frames(callers, charge) {
            let of_frame = by_frame.entry(frame).or_default();
            *of_frame.entry(group).or_default() += charge.cycles;
        }
    }
    let mut largest: Vec<(&str, u64)> = groups.into_iter().collect();
    largest.sort_by_key(|(_, cycles)| std::cmp::Reverse(*cycles));
    let mut map = PaletteMap::default();
    for (frame, of_frame) in by_frame {
        let most = of_frame.iter().max_by_key(|(_, cycles)| **cycles).map(|(group, _)| *group);
        let index = largest.iter().position(|(group, _)| Some(*group) == most).unwrap_or_default();
        let [r, g, b] = COLOURS[index.min(COLOURS.len() - 1)];
        map.insert(frame, Color { r, g, b });
    }
    map
}

#[cfg(test)]
mod tests {
    use super::{difference_graph, flame_graph, folded};
    use crate::ledger::examples::ledger;

    #[test]
    fn stacks_fold_by_owner_function_instruction_and_cause() {
        let ledger = ledger(&[
            ("hypervisor", "<[u8; 4]>::exit", 4, "load.l1", false, 600),
            ("hypervisor", "<[u8; 4]>::exit", 4, "load.l1", false, 1),
        ]);
        assert_eq!(folded(&ledger), "hypervisor;<[u8, 4]>::exit;+0x4 mfspr r3,lpcr;load.l1 601\n");
        let mut inlined = ledger.clone();
        inlined.charges.truncate(1);
        inlined.charges[0].inlined = ["<A>::f".to_owned(), "g::<[u8; 4]>".to_owned()].into();
        let expected =
            "hypervisor;<[u8, 4]>::exit;<A>::f;g::<[u8, 4]>;+0x4 mfspr r3,lpcr;load.l1 600\n";
        assert_eq!(folded(&inlined), expected);
        let graph = String::from_utf8(flame_graph(&ledger, "a title").unwrap()).unwrap();
        assert!(graph.contains("<svg") && graph.contains("a title"));
    }

    /// The colour of a cause's frame: red, green, blue.
    fn colour(graph: &str, cause: &str) -> [u8; 3] {
        let (_, rest) = graph.split_once(&format!("<title>{cause} (")).unwrap();
        let (_, rest) = rest.split_once("fill=\"rgb(").unwrap();
        let numbers = rest.split_once(')').unwrap().0.split(',');
        let numbers: Vec<u8> = numbers.map(|number| number.parse().unwrap()).collect();
        numbers.try_into().unwrap()
    }

    #[test]
    fn what_became_dearer_is_red_and_what_became_cheaper_blue() {
        let lines = |dear, cheap, calls: u64| {
            ledger(&[
                ("hypervisor", "f", 4, "load.l1", false, dear * calls),
                ("hypervisor", "f", 4, "load.l2", false, cheap * calls),
                ("hypervisor", "f", 4, "load.l3", false, 300 * calls),
            ])
        };
        let (before, after) = (lines(100, 400, 10), lines(200, 300, 20));
        let graph = difference_graph((&before, 10), (&after, 20), "a title").unwrap();
        let graph = String::from_utf8(graph).unwrap();
        assert!(graph.contains("a title"));
        let [red, green, blue] = colour(&graph, "load.l1");
        assert!(red > green && red > blue, "{graph}");
        let [red, green, blue] = colour(&graph, "load.l2");
        assert!(blue > green && blue > red, "{graph}");
        let [red, green, blue] = colour(&graph, "load.l3");
        assert!(red == green && green == blue, "per call it is the same: {graph}");
        assert!(graph.contains("load.l1 (4,000 cycles, 25.00%"), "{graph}");
    }
}
