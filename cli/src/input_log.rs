//! Console input with the simulated time at which it came, as a file: what `--log-input` writes and
//! `--replay-input` reads.
//!
//! The first line names the format; each further line is one JSON object, for what arrived together.
//! `text` is what was typed; where that is not UTF-8 there are `bytes` instead.

use std::path::Path;

use lab::user_file::Files;
use serde::{Deserialize, Serialize};
use simulator::Input;

use crate::failure::Failure;
use crate::output::write_whole;

const FORMAT: &str = "# powervisor console input 1";

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Line {
    at_step: u64,
    timebase: u64,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    text: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    bytes: Option<Vec<u8>>,
}

/// Writes all input of a run.
pub fn write(path: &Path, log: &[Input]) -> Result<(), Failure> {
    let lines = log.iter().map(|input| {
        let text = String::from_utf8(input.bytes.clone());
        let (text, bytes) = match text {
            Ok(text) => (Some(text), None),
            Err(error) => (None, Some(error.into_bytes())),
        };
        let line = Line { at_step: input.at_step, timebase: input.timebase, text, bytes };
        serde_json::to_string(&line).expect("numbers and text can be written")
    });
    let lines: Vec<String> = std::iter::once(FORMAT.to_owned()).chain(lines).collect();
    write_whole(path, (lines.join("\n") + "\n").as_bytes())
}

/// Reads what [`write`] wrote, or a person.
pub fn read(path: &Path, files: &Files) -> Result<Vec<Input>, Failure> {
    let place = path.display().to_string();
    let text = String::from_utf8(files.read(path)?)
        .map_err(|_| Failure::input(&place, "the file is not text; write it with --log-input"))?;
    let mut lines = (1..).zip(text.lines());
    if lines.next().is_none_or(|(_, first)| first != FORMAT) {
        let text = format!("not a log of console input; its first line must be `{FORMAT}`");
        return Err(Failure::in_line(&place, 1, text));
    }
    let mut log: Vec<Input> = Vec::new();
    for (number, line) in lines {
        let wrong = |text: String| Failure::in_line(&place, number, text);
        let line: Line = serde_json::from_str(line).map_err(|error| {
            let shape = "{\"at_step\": 0, \"timebase\": 0, \"text\": \"...\"}";
            wrong(format!("not a line of input: {error}; a line is {shape}"))
        })?;
        let bytes = match (line.text, line.bytes) {
            (Some(text), None) => text.into_bytes(),
            (None, Some(bytes)) => bytes,
            _ => return Err(wrong("a line has `text` or `bytes`; leave one of them".to_owned())),
        };
        if let Some(last) = log.last().filter(|last| last.at_step > line.at_step) {
            let text = format!(
                "step {} is before step {} of the line above; sort the lines",
                line.at_step, last.at_step
            );
            return Err(wrong(text));
        }
        log.push(Input { at_step: line.at_step, timebase: line.timebase, bytes });
    }
    Ok(log)
}

#[cfg(test)]
mod tests {
    use super::{FORMAT, read, write};
    use lab::user_file::Files;
    use simulator::Input;

    #[test]
    fn what_was_written_is_read() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("log");
        let input = |at_step, bytes: &[u8]| Input { at_step, timebase: 7, bytes: bytes.to_vec() };
        let log = [input(3, b"one\n\"two\""), input(3, &[0xFF, 0]), input(9, "ö\r".as_bytes())];
        for log in [&log[..], &[]] {
            write(&path, log).unwrap();
            assert_eq!(read(&path, &Files::default()).unwrap(), log);
        }
    }

    #[test]
    fn each_mistake_is_one_line_with_its_line_number() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("log");
        let good = "{\"at_step\": 5, \"timebase\": 0, \"text\": \"a\"}";
        for (text, expected) in [
            (String::new(), "log:1: not a log of console input; "),
            (format!("{good}\n"), "log:1: not a log of console input; "),
            (format!("{FORMAT}\nx\n"), "log:2: not a line of input: "),
            (
                format!("{FORMAT}\n{{\"at_step\": 5, \"timebase\": 0}}\n"),
                "log:2: a line has `text` ",
            ),
            (
                format!("{FORMAT}\n{good}\n{}", good.replace('5', "4")),
                "log:3: step 4 is before step 5 ",
            ),
            (format!("{FORMAT}\n{}", good.replace("text", "txet")), "log:2: not a line of input: "),
        ] {
            std::fs::write(&path, text).unwrap();
            let error = read(&path, &Files::default()).unwrap_err().to_string();
            assert!(error.contains(expected), "{error}");
            assert!(error.contains("; ") && !error.contains('\n'), "{error}");
        }
    }
}
