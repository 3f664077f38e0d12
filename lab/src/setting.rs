//! A value of a machine description that somebody sets for one run: `KEY=VALUE`. Several numbers, as in `KEY=10,20`,
//! are for a run each. Where the description chooses between readings of its sources, the value is a word.
//!
//! The key is the value's place in the description's file, `timing.special.scoreboard`, or as much of its end
//! as only one value has: `scoreboard`. A value that was set is no guess any more: it has no ends, and its
//! source says who set it.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::{self, Display};
use std::str::FromStr;

use serde::{Deserialize, Serialize};
use toml_edit::{DocumentMut, Item, TableLike, Value, value};

use crate::toml_file::suggest;

/// What a value is called whose quantity has a unit and a source.
const VALUE: &str = "value";

/// Whether an item of a description is of the kind.
type Kind = fn(&Item) -> bool;

/// What to set one value to: a word, a number, or several, each for a run of its own.
#[derive(Clone, Debug)]
pub struct Setting {
    key: String,
    /// At least one; a word stands alone.
    values: Vec<Value>,
}

impl fmt::Display for Setting {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let text = |value: &Value| match value.as_str() {
            Some(word) => word.to_owned(),
            None => value.to_string().trim().to_owned(),
        };
        let values: Vec<String> = self.values.iter().map(text).collect();
        write!(f, "{}={}", self.key, values.join(","))
    }
}

impl Setting {
    /// How many values it has.
    #[must_use]
    pub fn values(&self) -> usize {
        self.values.len()
    }

    /// The items of a description that it can be the value of.
    fn kind(&self) -> Kind {
        let is_word = self.values.iter().any(Value::is_str);
        if is_word { Item::is_str } else { is_number }
    }

    /// Whether it has several.
    #[must_use]
    pub fn is_several(&self) -> bool {
        self.values() > 1
    }
}

impl FromStr for Setting {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let (key, given) = text.split_once('=').ok_or_else(|| {
            format!("`{text}` sets nothing; write KEY=VALUE, such as scoreboard=0")
        })?;
        let key = key.trim().to_owned();
        if is_word(given.trim()) {
            return Ok(Self { key, values: vec![given.trim().into()] });
        }
        if given.contains(',') && given.split(',').any(|one| is_word(one.trim())) {
            return Err(format!(
                "`{text}` has several values, which only numbers can be; give one word"
            ));
        }
        let mut values: Vec<Value> = Vec::new();
        for number in given.split(',') {
            let parsed = number.trim().parse::<Value>().ok();
            let parsed = parsed.filter(|number| number.is_integer() || number.is_float());
            let parsed = parsed.ok_or_else(|| {
                format!(
                    "`{number}` is no number, and no word of small letters; write KEY=VALUE, such as scoreboard=0"
                )
            })?;
            let is_same = |known: &Value| as_number(known) == as_number(&parsed);
            if values.iter().any(is_same) {
                return Err(format!("`{text}` has {} twice; give it once", number.trim()));
            }
            values.push(parsed);
        }
        Ok(Self { key, values })
    }
}

/// Whether a description may have this for a choice: `rounded-down`, but not `true`, `inf` or `nan`.
fn is_word(text: &str) -> bool {
    let is_part = |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'-';
    text.bytes().all(is_part)
        && text.bytes().any(|byte| byte.is_ascii_lowercase())
        && text.parse::<Value>().is_err()
}

/// One value of each setting, in all combinations; the last setting changes first.
#[must_use]
pub fn combinations(settings: &[Setting]) -> Vec<Vec<Setting>> {
    settings.iter().fold(vec![Vec::new()], |combinations, Setting { key, values }| {
        let with = |combination: &Vec<Setting>, value: &Value| {
            let one = Setting { key: key.clone(), values: vec![value.clone()] };
            combination.iter().cloned().chain([one]).collect()
        };
        combinations
            .iter()
            .flat_map(|combination| values.iter().map(move |value| with(combination, value)))
            .collect()
    })
}

fn as_number(value: &Value) -> Option<f64> {
    value.as_float().or_else(|| value.as_integer().map(|integer| integer as f64))
}

/// The description `text` with these values, and its comments as they were.
///
/// # Errors
/// What is wrong, and what would be right, if a key names no value or several, a setting has several numbers, or two
/// set one value.
pub fn apply(text: &str, settings: &[Setting]) -> Result<String, String> {
    let mut document: DocumentMut = text.parse().map_err(|_| "the description is no TOML")?;
    let mut known = BTreeSet::new();
    for setting in settings {
        let [value] = &setting.values[..] else {
            return Err(format!("`{setting}` has several values, which are for `run`; give one"));
        };
        let path = place(&document, setting)?;
        set(document.as_table_mut(), &path, value);
        if let Some(path) = known.replace(path) {
            return Err(format!("`{setting}`: {path} is set twice; give it once"));
        }
    }
    Ok(document.to_string())
}

/// What a value is set to.
#[derive(Serialize, Deserialize, Clone, PartialEq, Debug)]
#[serde(untagged)]
pub enum Given {
    /// A number.
    Number(f64),
    /// A word.
    Word(String),
}

impl Display for Given {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Number(number) => number.fmt(f),
            Self::Word(word) => word.fmt(f),
        }
    }
}

/// The places in the description `text` that these set, with what each is set to, of several the first.
///
/// # Errors
/// As [`apply`].
pub fn places(text: &str, settings: &[Setting]) -> Result<BTreeMap<String, Given>, String> {
    let document: DocumentMut = text.parse().map_err(|_| "the description is no TOML")?;
    let given = settings.iter().map(|setting| {
        let value = setting.values.first();
        let given = match value.and_then(Value::as_str) {
            Some(word) => Given::Word(word.to_owned()),
            None => Given::Number(value.and_then(as_number).unwrap_or_default()),
        };
        Ok((place(&document, setting)?, given))
    });
    given.collect()
}

/// The values of the timing model in the description `text`, by their places.
#[must_use]
pub fn timing(text: &str) -> BTreeMap<String, f64> {
    let Ok(document) = text.parse::<DocumentMut>() else { return BTreeMap::new() };
    let mut keys = Vec::new();
    collect(document.as_table(), "", is_number, &mut keys);
    let keys = keys.into_iter().filter(|key| key.starts_with("timing."));
    keys.filter_map(|key| Some((key.clone(), number_at(document.as_table(), &key)?))).collect()
}

/// The number at `path`, which is there.
fn number_at(table: &dyn TableLike, path: &str) -> Option<f64> {
    let (first, rest) = path.split_once('.').unwrap_or((path, ""));
    let item = table.get(first)?;
    match item.as_table_like() {
        Some(inner) if !rest.is_empty() => number_at(inner, rest),
        Some(quantity) => as_number(quantity.get(VALUE)?.as_value()?),
        None => as_number(item.as_value()?),
    }
}

fn place(document: &DocumentMut, setting: &Setting) -> Result<String, String> {
    let of_kind = |kind| {
        let mut keys = Vec::new();
        collect(document.as_table(), "", kind, &mut keys);
        keys
    };
    let kind = setting.kind();
    find(&setting.key, &of_kind(kind)).map_err(|error| {
        // The key may be right, and the value not.
        let others: [(Kind, _); 2] = [(is_number, "a number"), (Item::is_str, "a word")];
        let fits = others.iter().find(|(kind, _)| find(&setting.key, &of_kind(*kind)).is_ok());
        fits.map_or(error, |(_, what)| format!("`{setting}`: the value is {what}"))
    })
}

/// The places of all items of a kind below `table`, which lies at `prefix`. Words are values that have a source.
fn collect(table: &dyn TableLike, prefix: &str, kind: Kind, keys: &mut Vec<String>) {
    for (key, item) in table.iter() {
        let path = format!("{prefix}{key}");
        match item.as_table_like() {
            Some(quantity) if quantity.get(VALUE).is_some() => {
                keys.extend(quantity.get(VALUE).is_some_and(kind).then_some(path));
            }
            Some(inner) => collect(inner, &format!("{path}."), kind, keys),
            None if is_number(item) && kind(item) => keys.push(path),
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
        None => "`powervisor show` with the machine's name prints all".to_owned(),
    }
}

/// Sets the value at `path`, which is there.
fn set(table: &mut dyn TableLike, path: &str, new: &Value) {
    let (first, rest) = path.split_once('.').unwrap_or((path, ""));
    let Some(item) = table.get_mut(first) else { return };
    match item.as_table_like_mut() {
        Some(inner) if !rest.is_empty() => set(inner, rest, new),
        Some(quantity) => {
            quantity.remove("low");
            quantity.remove("high");
            set_item(quantity, VALUE, new);
            quantity.insert("confidence", value("derived"));
            quantity.insert("source", value("set by whoever ran this"));
        }
        None => set_item(table, first, new),
    }
}

fn set_item(table: &mut dyn TableLike, key: &str, new: &Value) {
    if let Some(Item::Value(old)) = table.get_mut(key) {
        let decor = old.decor().clone();
        *old = new.clone();
        *old.decor_mut() = decor;
    }
}

#[cfg(test)]
mod tests {
    use simulator::Description;

    use super::{Given, Setting, apply, combinations, places};

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
    fn a_value_is_set_once() {
        let error = with(&["isync=50", "scoreboard=0", "timing.special.isync=60"]).unwrap_err();
        let right = "`timing.special.isync=60`: timing.special.isync is set twice; give it once";
        assert_eq!(error, right);
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
    fn a_choice_is_a_word() {
        let power8 = include_str!("../../machines/power8.toml");
        let with = |setting: &str| apply(power8, &[setting.parse::<Setting>()?]);
        let text = with("prefetch_engine.overlap=newest").unwrap();
        assert_eq!(text, with("overlap = newest").unwrap());
        assert!(text.contains("[prefetch_engine.overlap]\nvalue = \"newest\"\n"));
        Description::from_toml(&text).unwrap();
        assert_eq!("overlap=newest".parse::<Setting>().unwrap().to_string(), "overlap=newest");
        for (setting, expected) in [
            ("overlap=1", "`overlap=1`: the value is a word"),
            ("overlap=stop,newest", "has several values, which only numbers can be"),
            ("overlap=NEWEST", "`NEWEST` is no number, and no word of small letters"),
            ("overlab=newest", "did you mean `prefetch_engine.overlap`?"),
        ] {
            let text = with(setting).unwrap_err();
            assert!(text.contains(expected), "{setting}: {text}");
        }
        let error = Description::from_toml(&with("overlap=oldest").unwrap()).unwrap_err();
        assert!(error.to_string().contains("unknown variant `oldest`"), "{error}");
    }

    #[test]
    fn several_values_are_set_in_all_combinations() {
        let settings: Vec<Setting> = ["scoreboard=0,40", "isync=50", "mode_change=1.5,2"]
            .map(|text| text.parse().unwrap())
            .to_vec();
        let found = combinations(&settings);
        let text = |combination: &Vec<Setting>| {
            combination.iter().map(Setting::to_string).collect::<Vec<_>>().join(" ")
        };
        let expected = [
            "scoreboard=0 isync=50 mode_change=1.5",
            "scoreboard=0 isync=50 mode_change=2",
            "scoreboard=40 isync=50 mode_change=1.5",
            "scoreboard=40 isync=50 mode_change=2",
        ];
        assert_eq!(found.iter().map(text).collect::<Vec<_>>(), expected);
        let places = places(POWER9, &found[0]).unwrap();
        assert_eq!(places["timing.special.scoreboard"], Given::Number(0.0));
        assert_eq!(places["timing.core.mode_change"], Given::Number(1.5));
    }

    #[test]
    fn what_names_no_value_is_refused_with_the_nearest() {
        for (setting, expected) in [
            ("pipeline.scoreboard=0", "did you mean `timing.special.scoreboard`?"),
            ("scorebord=0", "did you mean `timing.special.scoreboard`?"),
            ("value=0", "no value is called `value`"),
            ("scoreboard", "write KEY=VALUE"),
            ("scoreboard=newest", "`scoreboard=newest`: the value is a number"),
            ("scorebord=newest", "no value is called `scorebord`"),
            ("name=power10", "no value is called `name`"),
            ("scoreboard=true", "is no number"),
            ("scoreboard=1,", "is no number"),
            ("scoreboard=1,1.0", "has 1.0 twice"),
            ("scoreboard=1,2", "`scoreboard=1,2` has several values"),
            ("name=3", "no value is called `name`"),
            ("threads_are_partitions=1", "no value is called `threads_are_partitions`"),
        ] {
            let text = with(&[setting]).unwrap_err();
            assert!(text.contains(expected), "{setting}: {text}");
        }
    }
}
