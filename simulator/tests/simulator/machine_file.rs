//! Every number of a machine file at values that nobody should write: it is refused with its line, or the machine that
//! it describes runs.

use std::ops::Range;

use crate::support::Program;
use arch::instruction::Mnemonic;
use simulator::pipeline::Settings;
use simulator::quantity::Bound;
use simulator::{Boot, Description, Machine, NoObserver};
use toml::Spanned;
use toml::de::{DeTable, DeValue};

const POWER9: &str = include_str!("../../../machines/power9.toml");

/// The path and the place in the text of every number in `value`.
fn numbers(path: &str, value: &Spanned<DeValue<'_>>, found: &mut Vec<(String, Range<usize>)>) {
    match value.get_ref() {
        DeValue::Integer(_) | DeValue::Float(_) => found.push((path.to_owned(), value.span())),
        DeValue::Array(values) => {
            for (index, value) in values.iter().enumerate() {
                numbers(&format!("{path}[{index}]"), value, found);
            }
        }
        DeValue::Table(table) => {
            for (key, value) in table {
                numbers(&format!("{path}.{}", key.get_ref()), value, found);
            }
        }
        _ => (),
    }
}

fn all_numbers() -> Vec<(String, Range<usize>)> {
    let mut found = Vec::new();
    for (key, value) in DeTable::parse(POWER9).unwrap().get_ref() {
        numbers(key.get_ref(), value, &mut found);
    }
    found
}

/// A loop that stores to one page after the other, and never ends.
fn boot() -> Boot {
    let program = Program::default()
        .identity_tables()
        .set(3, 0x200_0000)
        .op(Mnemonic::Ld, &[4, 0, 3])
        .op(Mnemonic::Std, &[4, 64, 3])
        .op(Mnemonic::Addis, &[3, 3, 1])
        .op(Mnemonic::B, &[-12, 0, 0]);
    Boot { kernel: program.0, initrd: None, arguments: String::new() }
}

#[test]
fn a_number_that_cannot_be_is_refused_with_its_line_and_any_other_makes_a_machine() {
    const STEPS: u64 = 300;
    const WRONG: [&str; 8] = [
        "0",
        "1",
        "2147483648",
        "4294967296",
        "9223372036854775807",
        "9223372036854775808",
        "-1",
        "0.5",
    ];
    let boot = boot();
    let numbers = all_numbers();
    assert!(numbers.len() > 180, "the file has {} numbers", numbers.len());
    let (mut refused, mut run, mut unclear) = (0, 0, Vec::new());
    for (path, place) in numbers {
        let line = 1 + POWER9[..place.start].matches('\n').count();
        for value in WRONG {
            let text = format!("{}{value}{}", &POWER9[..place.start], &POWER9[place.end..]);
            let what = format!("{path} = {value}, line {line}");
            match Description::from_toml(&text) {
                Err(error) => {
                    refused += 1;
                    // Another line may be named where two do not go together.
                    let is_absurd = value.starts_with('-') || value.len() > 12;
                    let is_named = error.line.is_some_and(|named| !is_absurd || named == line);
                    if !is_named || error.message.contains('\n') {
                        unclear.push(format!("{what}: {error}"));
                    }
                }
                Ok(description) => {
                    run += 1;
                    // What is printed last is what went wrong, should one abort.
                    eprintln!("{what}");
                    for bound in [Bound::Value, Bound::Low, Bound::High] {
                        let mut machine = Machine::new(description.clone(), 1);
                        machine.boot(&boot).unwrap();
                        machine.start_timing(Settings { bound, ..Settings::default() });
                        machine.run(STEPS, &mut NoObserver);
                        assert!(machine.instructions() > 0, "{what}");
                    }
                }
            }
        }
    }
    assert!(unclear.is_empty(), "{unclear:#?}");
    assert!(refused > 500 && run > 200, "{refused} refused, {run} run");
}
