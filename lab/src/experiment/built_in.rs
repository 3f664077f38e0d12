//! The experiments that come with the command, by name.

use std::path::Path;

use crate::failure::Failure;
use crate::toml_file::{TomlFile, suggest};
use crate::user_file::Files;

/// Path and text of each, by name. `build.rs` finds them in `experiments/`.
const TEXTS: &[(&str, &str)] = include!(concat!(env!("OUT_DIR"), "/experiments.rs"));

/// Their names.
pub fn names() -> impl Iterator<Item = &'static str> {
    TEXTS.iter().filter_map(|(path, _)| Path::new(path).file_stem()?.to_str())
}

/// The text of the one with this name, or `None` if none comes with the command.
#[must_use]
pub fn text(name: &str) -> Option<&'static str> {
    let found = names().zip(TEXTS).find(|(known, _)| *known == name);
    found.map(|(_, (_, text))| *text)
}

/// The file of the experiment with this name, or the user's own at this path.
///
/// # Errors
/// [`Failure`] if there is neither.
pub fn file(name: &Path, files: &Files) -> Result<TomlFile, Failure> {
    let stem = name.file_stem().and_then(|stem| stem.to_str());
    if let Some(known) = stem.filter(|stem| text(stem).is_some())
        && name.extension().is_some()
        && !name.exists()
    {
        let text = format!("there is no such file; `{known}` alone names the one that comes along");
        return Err(Failure::input(name.display(), text));
    }
    let word = name.to_str().filter(|_| name.extension().is_none() && !name.exists());
    let Some(word) = word.filter(|word| !word.contains('/')) else {
        return TomlFile::read(name, files);
    };
    let text = text(word).ok_or_else(|| {
        let hint = suggest(word, names());
        let right = "Experiments of your own are named by their path, ending in .toml";
        Failure::input(word, format!("no file and no experiment is called so; {hint} {right}"))
    })?;
    let path = format!("experiments/{word}.toml");
    TomlFile::from_bytes(Path::new(&path), text.as_bytes().to_vec())
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::{file, names};
    use crate::user_file::Files;

    #[test]
    fn each_is_found_by_its_name() {
        assert!(names().count() > 4);
        for name in names() {
            let table: toml::Table =
                file(Path::new(name), &Files::default()).unwrap().parse().unwrap();
            assert_eq!(table["name"].as_str(), Some(name));
        }
    }

    #[test]
    fn a_name_that_is_none_is_refused_with_the_nearest() {
        let failure = file(Path::new("null-hypercal"), &Files::default()).unwrap_err();
        assert!(failure.to_string().contains("did you mean `null-hypercall`?"), "{failure}");
        let elsewhere = Path::new("elsewhere/null-hypercall.toml");
        let failure = file(elsewhere, &Files::default()).unwrap_err();
        assert!(failure.to_string().contains("`null-hypercall` alone names the one"), "{failure}");
    }
}
