//! What of a file is compiled for tests only, and where it stands: `cfg(test)` says so, and not a name.
//!
//! Unit tests are the module `tests` at the end of the file that they test, a file (`mod tests;`) or not
//! (`mod tests { ... }`). Modules that help tests have other names, and are not private.

use anyhow::{Context, Result};
use syn::punctuated::Punctuated;
use syn::{Attribute, ImplItem, Item, ItemMod, Meta, Token, Visibility};

use super::text::{Tree, has_extension};

/// A complaint for each file of ours in which anything comes after a module of tests, and for each such module that
/// has another name.
pub(super) fn check(tree: &Tree) -> Result<Vec<String>> {
    let mut complaints = Vec::new();
    for (path, text) in tree.texts.iter().filter(|(path, _)| has_extension(path, "rs")) {
        let file = syn::parse_file(text).with_context(|| format!("parsing {}", path.display()))?;
        let is_test = |item: &&Item| is_module_of_tests(item);
        if file.items.iter().skip_while(|item| !is_test(item)).any(|item| !is_test(&item)) {
            complaints.push(format!("{}: tests are last in a file", path.display()));
        }
        for item in file.items.iter().filter(is_test) {
            if let Item::Mod(ItemMod { vis: Visibility::Inherited, ident, attrs, .. }) = item
                && ident != "tests"
                && attrs.iter().any(is_for_unit_tests)
            {
                let text = "tests are in a module called `tests`, or in one of its own";
                complaints.push(format!("{}: mod {ident}: {text}", path.display()));
            }
        }
    }
    Ok(complaints)
}

fn is_module_of_tests(item: &Item) -> bool {
    matches!(item, Item::Mod(_)) && is_for_tests(attributes(item))
}

/// Whether what has these attributes is compiled for tests only.
pub(super) fn is_for_tests(attributes: &[Attribute]) -> bool {
    attributes.iter().any(|attribute| {
        attribute.path().is_ident("cfg")
            && attribute.parse_args::<Meta>().is_ok_and(|condition| implies_test(&condition))
    })
}

/// Whether it says `cfg(test)`, and not for Loom alone: its models are no unit tests.
fn is_for_unit_tests(attribute: &Attribute) -> bool {
    let is_meant = |condition: Meta| implies_test(&condition) && !implies(&condition, "loom");
    attribute.path().is_ident("cfg") && attribute.parse_args::<Meta>().is_ok_and(is_meant)
}

fn implies_test(condition: &Meta) -> bool {
    implies(condition, "test")
}

/// Whether the condition holds only where `what` does.
fn implies(condition: &Meta, what: &str) -> bool {
    let Meta::List(list) = condition else { return condition.path().is_ident(what) };
    let parts = list.parse_args_with(Punctuated::<Meta, Token![,]>::parse_terminated);
    let Ok(parts) = parts else { return false };
    let implies = |part: &Meta| implies(part, what);
    (list.path.is_ident("all") && parts.iter().any(implies))
        || (list.path.is_ident("any") && !parts.is_empty() && parts.iter().all(implies))
}

/// The attributes of an item of a file.
pub(super) fn attributes(item: &Item) -> &[Attribute] {
    match item {
        Item::Const(item) => &item.attrs,
        Item::Enum(item) => &item.attrs,
        Item::Fn(item) => &item.attrs,
        Item::Impl(item) => &item.attrs,
        Item::Macro(item) => &item.attrs,
        Item::Mod(item) => &item.attrs,
        Item::Static(item) => &item.attrs,
        Item::Struct(item) => &item.attrs,
        Item::Trait(item) => &item.attrs,
        Item::Type(item) => &item.attrs,
        Item::Use(item) => &item.attrs,
        _ => &[],
    }
}

/// The attributes of an item of an implementation.
pub(super) fn attributes_of_method(item: &ImplItem) -> &[Attribute] {
    match item {
        ImplItem::Const(item) => &item.attrs,
        ImplItem::Fn(item) => &item.attrs,
        ImplItem::Macro(item) => &item.attrs,
        ImplItem::Type(item) => &item.attrs,
        _ => &[],
    }
}

#[cfg(test)]
mod tests {
    use super::{attributes, check, is_for_tests};
    use crate::check::text::Tree;

    #[test]
    fn cfg_says_what_is_for_tests_only() {
        for (item, expected) in [
            ("#[cfg(test)] mod sparse {}", true),
            ("#[cfg(all(loom, test))] mod models;", true),
            ("#[cfg(any(test, all(test, loom)))] use a::B;", true),
            ("#[cfg(any(test, feature = \"fake\"))] mod fake;", false),
            ("#[cfg(not(test))] fn f() {}", false),
            ("mod tests {}", false),
        ] {
            let parsed = syn::parse_str(item).unwrap();
            assert_eq!(is_for_tests(attributes(&parsed)), expected, "{item}");
        }
    }

    #[test]
    fn nothing_comes_after_the_tests_which_have_one_name() {
        for (text, complaints) in [
            ("mod a; fn f() {} #[cfg(test)] mod tests;", 0),
            ("#[cfg(test)] pub(crate) mod sparse; #[cfg(test)] mod tests {}", 0),
            ("#[cfg(test)] mod tests {} #[cfg(test)] mod more_tests;", 1),
            ("#[cfg(all(loom, test))] mod models; #[cfg(test)] mod tests {}", 0),
            (
                "#[cfg(all(loom, test))] mod models; #[cfg(all(test, not(loom)))] mod more_tests {}",
                1,
            ),
            ("#[cfg(test)] const A: u8 = 1; fn f() {}", 0),
            ("#[cfg(test)] mod tests; pub use a::B;", 1),
            ("#[cfg(test)] mod tests {} #[cfg(test)] const A: u8 = 1;", 1),
        ] {
            let mut tree = Tree::default();
            tree.texts.push(("x/src/lib.rs".into(), text.to_owned()));
            assert_eq!(check(&tree).unwrap().len(), complaints, "{text}");
        }
    }
}
