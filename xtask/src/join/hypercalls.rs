//! docs/hypercalls.md, whose tables are made of the lists in `arch/src/papr.rs`.

use anyhow::{Context, Result, ensure};

/// The heads of the tables, as far as one has to be found by them: calls, RTAS calls and statuses.
const TABLES: [&str; 3] = ["| number | call |", "| token |", "| value | name |"];

/// `is` with its tables made anew of the list.
pub(super) fn hypercalls(is: &str, parts: &[String]) -> Result<String> {
    let list = parts.first().context("no list of hypercalls")?;
    let section = |begin: &str, end: &str| {
        let (_, behind) = list.split_once(begin).with_context(|| format!("no `{begin}`"))?;
        Ok::<_, anyhow::Error>(behind.split_once(end).map_or(behind, |(inside, _)| inside))
    };
    let calls = entries(section("\nhypercalls! {\n", "\n}\n")?, call);
    let tokens = entries(section("\npub mod rtas {\n", "\n    /// The properties")?, constant);
    let statuses = entries(section("\npub mod status {\n", "\n    /// The code's name")?, constant);
    let calls =
        calls.iter().map(|(doc, [name, number])| format!("| {number} | {name} | {doc} |\n"));
    let tokens = tokens.iter().map(|(doc, [_, token])| format!("| {token} | {doc} |\n"));
    let statuses =
        statuses.iter().map(|(doc, [name, value])| format!("| {value} | {name} | {doc} |\n"));
    let rows: [String; 3] = [calls.collect(), tokens.collect(), statuses.collect()];
    let mut text = is.to_owned();
    for (head, rows) in TABLES.iter().zip(rows) {
        ensure!(!rows.is_empty(), "the list for the table `{head}` is empty");
        let start = text.find(head).with_context(|| format!("no table `{head}`"))?;
        let rule = start + text[start..].find("|\n|---").context("a table has a rule")? + 2;
        let begin = rule + text[rule..].find('\n').context("a rule is a line")? + 1;
        let table: usize = text[begin..]
            .split_inclusive('\n')
            .take_while(|line| line.starts_with('|'))
            .map(str::len)
            .sum();
        text.replace_range(begin..begin + table, &rows);
    }
    Ok(text)
}

/// What is documented in a list, by `of`: the documentation on one line, the name and the number.
fn entries(list: &str, of: fn(&str) -> Option<[String; 2]>) -> Vec<(String, [String; 2])> {
    let mut entries = Vec::new();
    let mut doc = String::new();
    for line in list.lines().map(str::trim) {
        if let Some(more) = line.strip_prefix("///") {
            doc = format!("{doc}{more}").trim().to_owned();
        } else if let Some(entry) = of(line) {
            entries.push((std::mem::take(&mut doc), entry));
        }
    }
    entries
}

/// `Cede = 0xE0 "H_CEDE" Partition;`, where the class may be left out.
fn call(line: &str) -> Option<[String; 2]> {
    let (number, rest) = line.split_once(" = ")?.1.strip_suffix(';')?.split_once(" \"")?;
    let (name, _) = rest.split_once('"')?;
    Some([name.to_owned(), number.to_owned()])
}

/// `pub const H_BUSY: i64 = 1;`
fn constant(line: &str) -> Option<[String; 2]> {
    let (name, rest) = line.strip_prefix("pub const ")?.split_once(": ")?;
    Some([name.to_owned(), rest.split_once(" = ")?.1.strip_suffix(';')?.to_owned()])
}

#[cfg(test)]
mod tests {
    use super::hypercalls;

    const LIST: &str = "x\nhypercalls! {\n    /// `(flags,\n    /// page)`: zero.\n\
        \x20   PageInit = 0x2C \"H_PAGE_INIT\" Partition;\n    ;\n    /// Changes.\n    Enter = 0x08 \"H_ENTER\";\n}\n\
        \npub mod status {\n    /// Done.\n    pub const H_SUCCESS: i64 = 0;\n\n    /// The code's name.\n    fn x\n}\n\
        \npub mod rtas {\n    /// `power-off`: ends.\n    pub const POWER_OFF: u32 = 0x2000;\n\n    /// The properties.\n}\n";

    #[test]
    fn tables_are_made_of_the_list_and_the_text_stays() {
        let is = "a\n\n| number | call | b |\n|---|---|---|\n| 1 | OLD | c |\n\nd\n\n| token | e |\n|---|---|\n\nf\n\n\
            | value | name | means |\n|---|---|---|\n";
        let joined = "a\n\n| number | call | b |\n|---|---|---|\n| 0x2C | H_PAGE_INIT | `(flags, page)`: zero. |\n\
            | 0x08 | H_ENTER | Changes. |\n\nd\n\n\
            | token | e |\n|---|---|\n| 0x2000 | `power-off`: ends. |\n\nf\n\n\
            | value | name | means |\n|---|---|---|\n| 0 | H_SUCCESS | Done. |\n";
        assert_eq!(hypercalls(is, &[LIST.to_owned()]).unwrap(), joined);
        assert_eq!(hypercalls(joined, &[LIST.to_owned()]).unwrap(), joined);
        assert!(hypercalls("no table", &[LIST.to_owned()]).is_err());
        assert!(hypercalls(is, &[String::new()]).is_err());
    }
}
