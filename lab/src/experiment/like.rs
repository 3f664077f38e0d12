//! Variants that say in what they differ from one above: `like` names it, and what they do not say is as there; of
//! `policy` each key.

use toml::Spanned;
use toml::de::{DeTable, DeValue};

use crate::failure::Failure;
use crate::toml_file::{TomlFile, suggest};

const LIKE: &str = "like";
const NAME: &str = "name";
const POLICY: &str = "policy";

/// Gives each variant of the experiment whose table `root` is what it does not say itself, by its
/// `like`.
///
/// # Errors
/// A complaint if that names no variant above.
pub(super) fn fill(file: &TomlFile, root: &mut DeTable<'_>) -> Result<(), Failure> {
    let Some(DeValue::Array(variants)) = root.get_mut("variant").map(Spanned::get_mut) else {
        // Whoever reads the structure complains.
        return Ok(());
    };
    let mut above: Vec<DeTable<'_>> = Vec::new();
    for variant in variants.iter_mut() {
        let DeValue::Table(table) = variant.get_mut() else { continue };
        let like = table.get(LIKE).cloned();
        if let Some(like) = like
            && let Some(name) = like.get_ref().as_str()
        {
            let Some(other) = above.iter().find(|other| name_of(other) == Some(name)) else {
                let hint = match above.is_empty() {
                    true => "it is the first one".to_owned(),
                    false => suggest(name, above.iter().filter_map(name_of)),
                };
                let text = format!("no variant above is called `{name}`; {hint}");
                return Err(file.complain(like.span(), text));
            };
            if let (Some(DeValue::Table(own)), Some(DeValue::Table(policy))) = (
                table.get_mut(POLICY).map(Spanned::get_mut),
                other.get(POLICY).map(Spanned::get_ref),
            ) {
                complete(own, policy);
            }
            let mut other = other.clone();
            other.remove(NAME);
            complete(table, &other);
        }
        above.push(table.clone());
    }
    Ok(())
}

/// Gives `table` the keys of `other` that it lacks.
fn complete<'a>(table: &mut DeTable<'a>, other: &DeTable<'a>) {
    for (key, value) in other {
        if !table.contains_key(key.get_ref().as_ref()) {
            table.insert(key.clone(), value.clone());
        }
    }
}

fn name_of<'a>(variant: &'a DeTable<'_>) -> Option<&'a str> {
    variant.get(NAME)?.get_ref().as_str()
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use toml::Table;

    use super::fill;
    use crate::toml_file::TomlFile;

    fn filled(text: &str) -> Result<Table, String> {
        let file = TomlFile::from_bytes(Path::new("e.toml"), text.as_bytes().to_vec()).unwrap();
        file.parse_after(|root| fill(&file, root)).map_err(|failure| failure.to_string())
    }

    #[test]
    fn what_a_variant_does_not_say_is_as_in_the_one_it_is_like() {
        let text = "[[variant]]\nname = 'a'\nx = 1\ny = { z = 2 }\n\
            [[variant]]\nname = 'b'\nlike = 'a'\nx = 3\n\
            [[variant]]\nname = 'c'\nlike = 'b'\n";
        let whole = "[[variant]]\nname = 'a'\nx = 1\ny = { z = 2 }\n\
            [[variant]]\nname = 'b'\nlike = 'a'\nx = 3\ny = { z = 2 }\n\
            [[variant]]\nname = 'c'\nlike = 'b'\nx = 3\ny = { z = 2 }\n";
        assert_eq!(filled(text).unwrap(), toml::from_str::<Table>(whole).unwrap());
    }

    #[test]
    fn each_key_of_the_policy_is_as_in_the_one_it_is_like() {
        let text = "[[variant]]\nname = 'a'\npolicy = { subcores = 4, map = 'ours' }\n\
            [[variant]]\nname = 'b'\nlike = 'a'\npolicy.map = 'lazy'\n\
            [[variant]]\nname = 'c'\nlike = 'b'\n";
        let filled = filled(text).unwrap();
        let policy = |at: usize| filled["variant"][at]["policy"].to_string();
        for at in [1, 2] {
            assert_eq!(policy(at), "{ map = \"lazy\", subcores = 4 }");
        }
    }

    #[test]
    fn a_variant_is_like_one_above_it() {
        for (text, complaint) in [
            (
                "[[variant]]\nname = 'a'\nlike = 'a'\n",
                "e.toml:3: no variant above is called `a`; it is the first one",
            ),
            (
                "[[variant]]\nname = 'able'\nlike = 'baker'\n[[variant]]\nname = 'baker'\n",
                "e.toml:3: no variant above is called `baker`; it is the first one",
            ),
            (
                "[[variant]]\nname = 'able'\n[[variant]]\nname = 'b'\nlike = 'abel'\n",
                "e.toml:5: no variant above is called `abel`; did you mean `able`?",
            ),
        ] {
            let found = filled(text).unwrap_err();
            assert!(found.contains(complaint), "{found}");
        }
    }

    #[test]
    fn whoever_reads_the_structure_complains_of_what_is_no_table() {
        for text in ["variant = 1\n", "variant = [1]\n", "[[variant]]\nname = 1\nlike = 2\n"] {
            assert!(filled(text).is_ok(), "{text}");
        }
        assert!(filled("variant = [").unwrap_err().contains("e.toml:1"));
    }
}
