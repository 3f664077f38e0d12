use simulator::description::Description;

use super::Comparison;
use crate::calibration::measure::Figures;
use crate::calibration::predictions::Predictions;
use crate::calibration::rows::{Group, Role, Row};
use crate::machine_file::MachineFile;

fn row(name: &str, group: Group, published: f64) -> Row {
    Row {
        name: name.to_owned(),
        case: "case".to_owned(),
        minus: None,
        over: None,
        times: 1.0,
        unit: "cycles".to_owned(),
        published,
        published_high: None,
        at_most: false,
        group,
        role: Role::Fitted,
        listed: None,
        source: "somebody".to_owned(),
    }
}

fn description() -> Description {
    MachineFile::default().describe().unwrap()
}

fn figures(value: f64, low: f64, high: f64) -> Figures {
    let one = |cycles: f64| [("case".to_owned(), cycles)].into();
    Figures { value: one(value), low: one(low), high: one(high), ..Figures::default() }
}

#[test]
fn what_half_the_quantum_moves_is_not_met() {
    let beside = |half: f64| {
        let mut figures = figures(30.0, 30.0, 30.0);
        for cycles in [&mut figures.value, &mut figures.low, &mut figures.high] {
            cycles.insert("alone".to_owned(), 10.0);
        }
        figures.half_quantum.insert("case".to_owned(), half);
        let row = Row {
            over: Some("alone".to_owned()),
            unit: "ratio".to_owned(),
            ..row("beside", Group::B, 3.0)
        };
        let rows = [row];
        Comparison::new(&description(), &rows, Predictions::default(), &figures).unwrap()
    };
    for (half, note) in [(30.0, "+0.0 %"), (30.5, "+1.7 %")] {
        let comparison = beside(half);
        assert!(comparison.missed().is_empty());
        assert!(comparison.text().contains(note), "{}", comparison.text());
    }
    for half in [29.0, 31.0] {
        assert_eq!(beside(half).missed(), ["beside"]);
    }
    assert!(beside(31.0).text().contains("+3.3 %  missed"));
    let alone = Comparison::new(
        &description(),
        &[row("alone", Group::A, 30.0)],
        Predictions::default(),
        &figures(30.0, 30.0, 30.0),
    );
    assert!(!alone.unwrap().json().contains("moved_by_half_quantum"));
}

#[test]
fn what_misses_its_group_is_named() {
    let near = Row { role: Role::Predicted, ..row("near", Group::A, 10.0) };
    let rows = [near, row("far", Group::B, 20.0), row("wrong", Group::C, 90.0)];
    let predictions =
        Predictions { first: vec!["near".to_owned(), "far".to_owned()], ..Predictions::default() };
    let figures = figures(10.5, 10.5, 10.5);
    let comparison = Comparison::new(&description(), &rows, predictions, &figures).unwrap();
    assert_eq!(comparison.missed(), ["far", "wrong"]);
    let text = comparison.text();
    for line in ["predicted: 1 of 2 met (1 of 2 listed first, 0 of 0 added", "fitted: 0 of 2 met"] {
        assert!(text.contains(line), "{text}");
    }
    let json: serde_json::Value = serde_json::from_str(&comparison.json()).unwrap();
    assert_eq!(json["schema"], 1);
    assert_eq!(json["rows"][0]["role"], "predicted");
    assert_eq!(json["rows"][1]["was_predicted"], true);
    assert_eq!(json["rows"][0]["confidence"], "published");
}

#[test]
fn a_miss_by_less_than_a_decimal_shows() {
    let rows = [row("close", Group::A, 9.5427), row("far", Group::A, 9.0)];
    let figures = figures(10.5, 10.5, 10.5);
    let comparison =
        Comparison::new(&description(), &rows, Predictions::default(), &figures).unwrap();
    let text = comparison.text();
    assert!(text.contains("+10.032 %") && text.contains("+16.7 %"), "{text}");
}

#[test]
fn what_moves_with_the_guesses_is_an_interval() {
    let rows = [row("guessed", Group::C, 10.0)];
    let comparison =
        Comparison::new(&description(), &rows, Predictions::default(), &figures(10.0, 12.0, 7.0))
            .unwrap();
    assert!(comparison.text().contains("7.00 to 12.00"));
    assert!(comparison.json().contains("\"confidence\":\"guess\""));
}

#[test]
fn a_case_that_was_not_run_is_named() {
    let none = Figures::default();
    let error = Comparison::new(
        &description(),
        &[row("lost", Group::A, 1.0)],
        Predictions::default(),
        &none,
    );
    assert!(error.unwrap_err().contains("lost"));
}
