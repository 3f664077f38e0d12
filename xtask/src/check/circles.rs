//! Files that import each other in a circle.
//!
//! A file imports downwards. Parent and child may know each other; any other circle, one that goes through a
//! parent's child too, is a complaint that names the files on it.

use std::collections::BTreeSet;
use std::path::Path;

use anyhow::Result;

use super::modules::{Imports, Module, imports, roots};
use super::text::Tree;

/// A complaint for each circle of a crate of ours.
pub(super) fn check(tree: &Tree) -> Result<Vec<String>> {
    let mut complaints = Vec::new();
    for root in roots(tree) {
        let imports = imports(tree, root)?;
        complaints.extend(circle(&imports).map(|circle| complaint(root, &circle)));
    }
    Ok(complaints)
}

fn complaint(root: &Path, circle: &[Module]) -> String {
    let names: Vec<String> = circle.iter().map(|module| module.join("::")).collect();
    format!(
        "{}: {} import each other in a circle; let what both need lie below both",
        root.display(),
        names.join(" -> ")
    )
}

/// A circle, from a module to itself, if there is one.
fn circle(imports: &Imports) -> Option<Vec<Module>> {
    let mut done = BTreeSet::new();
    imports.keys().find_map(|module| follow(imports, module, &mut Vec::new(), &mut done))
}

fn follow<'a>(
    imports: &'a Imports,
    module: &'a Module,
    way: &mut Vec<&'a Module>,
    done: &mut BTreeSet<&'a Module>,
) -> Option<Vec<Module>> {
    if let Some(start) = way.iter().position(|before| *before == module) {
        return Some(way[start..].iter().copied().chain([module]).cloned().collect());
    }
    if !done.insert(module) {
        return None;
    }
    way.push(module);
    // Parents are known to their children.
    let next = imports.get(module).into_iter().flatten();
    let found = next
        .filter(|next| !module.starts_with(next))
        .find_map(|next| follow(imports, next, way, done));
    way.pop();
    found
}

#[cfg(test)]
mod tests {
    use super::super::text::Tree;
    use super::check;

    fn complaints(files: &[(&str, &str)]) -> Vec<String> {
        let mut tree = Tree::default();
        for (path, text) in files {
            tree.paths.insert(path.into());
            tree.texts.push((path.into(), (*text).to_owned()));
        }
        check(&tree).unwrap()
    }

    #[test]
    fn a_circle_is_named() {
        let files = [
            ("x/src/lib.rs", "mod a; mod b; mod c;"),
            ("x/src/a.rs", "use crate::b::{B, other};"),
            ("x/src/b/mod.rs", "mod inner; fn f() { crate::c::g() }"),
            ("x/src/b/inner.rs", "use super::B;"),
            ("x/src/c.rs", "use super::a::A as Other;"),
        ];
        assert_eq!(
            complaints(&files),
            [
                "x/src: a -> b -> c -> a import each other in a circle; let what both need lie below both"
            ]
        );
    }

    #[test]
    fn a_circle_through_a_child_is_one() {
        let files = [
            ("x/src/lib.rs", "mod a; mod b;"),
            ("x/src/a/mod.rs", "mod inner; use inner::C;"),
            ("x/src/a/inner.rs", "use crate::b::B; use super::A;"),
            ("x/src/b.rs", "use crate::a::A;"),
        ];
        assert!(complaints(&files)[0].starts_with("x/src: a -> a::inner -> b -> a import"));
    }

    #[test]
    fn parents_children_and_tests_may_know_each_other() {
        let files = [
            ("x/src/lib.rs", "mod a; mod b; use a::A;"),
            ("x/src/a.rs", "mod inner; use crate::b::B; #[cfg(test)] mod tests { use crate::b; }"),
            ("x/src/a/inner.rs", "use super::A;"),
            ("x/src/b.rs", "#[cfg(test)] mod tests { use crate::a::A; } #[cfg(test)] mod more;"),
            ("x/src/b/more.rs", "use crate::a::A;"),
        ];
        assert_eq!(complaints(&files), Vec::<String>::new());
    }

    #[test]
    fn what_is_called_tests_and_is_none_may_not() {
        let files = [
            ("x/src/lib.rs", "mod tests; mod b;"),
            ("x/src/tests.rs", "use crate::b::B;"),
            ("x/src/b.rs", "use crate::tests::A;"),
        ];
        assert!(complaints(&files)[0].starts_with("x/src: b -> tests -> b import"));
    }

    #[test]
    fn what_a_parent_hands_on_is_a_child_s() {
        for handed_on in ["pub use b::B;", "use b::B;", "pub use self::b::B as Other;"] {
            let name = if handed_on.contains("Other") { "Other" } else { "B" };
            let files = [
                ("x/src/lib.rs", "mod room;"),
                ("x/src/room/mod.rs", &format!("mod a; mod b; {handed_on}")),
                ("x/src/room/a.rs", &format!("use super::{name};")),
                ("x/src/room/b.rs", "use super::a::A;"),
            ];
            assert!(complaints(&files)[0].contains("room::a -> room::b"), "{handed_on}");
        }
    }

    #[test]
    fn a_macro_s_tokens_have_paths() {
        for call in [
            "fn f() { assert!(crate::b::is_so(1), \"text\") }",
            "macro_rules! a { ($x:expr) => { [$crate::b::B($x)] }; }",
            "list! { A => super::b::B, C }",
        ] {
            let files = [
                ("x/src/lib.rs", "mod a; mod b;"),
                ("x/src/a.rs", call),
                ("x/src/b.rs", "use crate::a::A;"),
            ];
            assert_eq!(complaints(&files).len(), 1, "{call}");
        }
    }
}
