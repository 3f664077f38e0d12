//! A value of a machine description that somebody sets for one run: `KEY=VALUE`.
//!
//! The key is the value's place in the description's file, `timing.special.scoreboard`, or as much of its end as only one
//! value has: `scoreboard`. A value that was set is no guess any more: it has no ends, and its source says who set it.

use std::fmt;
use std::str::FromStr;

use toml_edit::{DocumentMut, Item, TableLike, Value, value};

use crate::toml_file::suggest;

/// What a value is called whose quantity has a unit and a source.
const VALUE: &str = "value";

/// One value to set.
#[derive(Clone, Debug)]
pub struct Setting {
    key: String,
    number: Value,
}

impl fmt::Display for Setting {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}={}", self.key, self.number.to_string().trim())
    }
}

impl FromStr for Setting {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let (key, number) = text.split_once('=').ok_or_else(|| {
            format!("`{text}` sets nothing; write KEY=VALUE, such as scoreboard=0")
        })?;
        let parsed = number.trim().parse::<Value>().ok();
        match parsed.filter(|number| number.is_integer() || number.is_float()) {
            Some(number) => Ok(Self { key: key.trim().to_owned(), number }),
            None => Err(format!("`{number}` is no number; write KEY=VALUE, such as scoreboard=0")),
        }
    }
}

/// The description `text` with these values, and its comments as they were.
///
/// # Errors
/// What is wrong, and what would be right, if a key names no value or several.
pub fn apply(text: &str, settings: &[Setting]) -> Result<String, String> {
    let mut document: DocumentMut = text.parse().map_err(|_| "the description is no TOML")?;
    for setting in settings {
        let mut keys = Vec::new();
        collect(document.as_table(), "", &mut keys);
        let path = find(&setting.key, &keys)?;
        set(document.as_table_mut(), &path, &setting.number);
    }
    Ok(document.to_string())
}

/// The places of all numbers below `table`, which lies at `prefix`.
fn collect(table: &dyn TableLike, prefix: &str, keys: &mut Vec<String>) {
    for (key, item) in table.iter() {
        let path = format!("{prefix}{key}");
        match item.as_table_like() {
            Some(quantity) if quantity.get(VALUE).is_some_and(is_number) => keys.push(path),
            Some(inner) => collect(inner, &format!("{path}."), keys),
            None if is_number(item) => keys.push(path),
            None => {}
        }
    }
}

fn is_number(item: &Item) -> bool {
    item.is_integer() || item.is_float()
}

/// The one of `keys` that is `wanted`, or ends with it behind a dot.
fn find(wanted: &str, keys: &[String]) -> Result<String, String> {
    let ends = |key: &str| key.strip_suffix(wanted).is_some_and(|rest| rest.ends_with('.'));
    let found: Vec<&str> = match keys.iter().find(|key| *key == wanted) {
        Some(key) => vec![key],
        None => keys.iter().map(String::as_str).filter(|key| ends(key)).collect(),
    };
    match found[..] {
        [key] => Ok(key.to_owned()),
        [] => Err(format!("no value is called `{wanted}`; {}", hint(wanted, keys))),
        _ => {
            Err(format!("several values are called `{wanted}`; write one of {}", found.join(", ")))
        }
    }
}

/// The key whose last name is nearest to the last of `wanted`, or where all are found.
fn hint(wanted: &str, keys: &[String]) -> String {
    let last = |key: &str| key.rsplit('.').next().unwrap_or_default().to_owned();
    let names: Vec<String> = keys.iter().map(|key| last(key)).collect();
    let near = suggest(&last(wanted), names.iter().map(String::as_str));
    let name = near.strip_prefix("did you mean `").and_then(|rest| rest.strip_suffix("`?"));
    match keys.iter().find(|key| Some(last(key).as_str()) == name) {
        Some(key) => format!("did you mean `{key}`?"),
        None => "`powervisor show power9 --format json` lists all".to_owned(),
    }
}

/// Sets the value at `path`, which is there.
fn set(table: &mut dyn TableLike, path: &str, number: &Value) {
    let (first, rest) = path.split_once('.').unwrap_or((path, ""));
    let Some(item) = table.get_mut(first) else { return };
    match item.as_table_like_mut() {
        Some(inner) if !rest.is_empty() => set(inner, rest, number),
        Some(quantity) => {
            quantity.remove("low");
            quantity.remove("high");
            set_item(quantity, VALUE, number);
            quantity.insert("confidence", value("derived"));
            quantity.insert("source", value("set by whoever ran this"));
        }
        None => set_item(table, first, number),
    }
}

fn set_item(table: &mut dyn TableLike, key: &str, number: &Value) {
    if let Some(Item::Value(old)) = table.get_mut(key) {
        let decor = old.decor().clone();
        *old = number.clone();
        *old.decor_mut() = decor;
    }
}

#[cfg(test)]
mod tests {
    use simulator::Description;

    use super::{Setting, apply};

    const POWER9: &str = include_str!("../../machines/power9.toml");

    fn with(settings: &[&str]) -> Result<String, String> {
        let settings: Result<Vec<Setting>, String> =
            settings.iter().map(|setting| setting.parse()).collect();
        apply(POWER9, &settings?)
    }

    #[test]
    fn a_value_is_set_and_nothing_else() {
        let text = with(&["timing.special.scoreboard=0"]).unwrap();
        let changed: Vec<(&str, &str)> =
            POWER9.lines().zip(text.lines()).filter(|(before, after)| before != after).collect();
        let [(before, after)] = changed[..] else { panic!("{changed:?}") };
        assert!(before.starts_with("scoreboard = { value = 40,"), "{before}");
        assert!(after.starts_with("scoreboard = { value = 0,"), "{after}");
        assert_eq!(text, with(&["scoreboard=0"]).unwrap());
        let description = Description::from_toml(&text).unwrap();
        let before = Description::from_toml(POWER9).unwrap();
        assert_ne!(description.config_hash(), before.config_hash());
    }

    #[test]
    fn a_guess_that_is_set_has_no_ends_any_more() {
        let line = |text: &str| {
            let found = text.lines().find(|line| line.starts_with("mode_change ="));
            found.expect("the machine has it").to_owned()
        };
        assert!(line(POWER9).contains("low = 50, high = 500"));
        let text = with(&["mode_change=3.5"]).unwrap();
        let after = line(&text);
        assert!(after.contains("value = 3.5") && !after.contains("low"), "{after}");
        Description::from_toml(&text).unwrap();
    }

    #[test]
    fn what_names_no_value_is_refused_with_the_nearest() {
        for (setting, expected) in [
            ("pipeline.scoreboard=0", "did you mean `timing.special.scoreboard`?"),
            ("scorebord=0", "did you mean `timing.special.scoreboard`?"),
            ("value=0", "no value is called `value`"),
            ("scoreboard", "write KEY=VALUE"),
            ("scoreboard=true", "is no number"),
            ("name=3", "no value is called `name`"),
            ("threads_are_partitions=1", "no value is called `threads_are_partitions`"),
        ] {
            let text = with(&[setting]).unwrap_err();
            assert!(text.contains(expected), "{setting}: {text}");
        }
    }
}
