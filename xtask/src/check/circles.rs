//! Files that import each other in a circle.
//!
//! A file imports downwards. Parent and child may know each other; any other circle, one that goes through a parent's child
//! too, is a complaint that names the files on it. Tests import what they like.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use anyhow::{Context, Result};
use syn::visit::{self, Visit};
use syn::{ItemMod, ItemUse, UseTree};

use super::text::{Tree, has_extension};

/// A module's path in its crate.
type Module = Vec<String>;

/// A complaint for each circle of a crate of ours.
pub(super) fn check(tree: &Tree) -> Result<Vec<String>> {
    let is_root = |path: &&PathBuf| path.ends_with("src/lib.rs") || path.ends_with("src/main.rs");
    let roots: BTreeSet<&Path> =
        tree.paths.iter().filter(is_root).filter_map(|path| path.parent()).collect();
    let mut complaints = Vec::new();
    for root in roots {
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

/// Of each module of the crate at `root` that is no test, those that it imports from, without its parents.
fn imports(tree: &Tree, root: &Path) -> Result<BTreeMap<Module, BTreeSet<Module>>> {
    let mut files = BTreeMap::new();
    for (path, text) in &tree.texts {
        if let Ok(inside) = path.strip_prefix(root)
            && has_extension(path, "rs")
        {
            files.insert(module_of(inside), (path, text));
        }
    }
    let mut imports = BTreeMap::new();
    for (module, (path, text)) in files.iter().filter(|(module, _)| !is_test(module)) {
        let file = syn::parse_file(text).with_context(|| format!("parsing {}", path.display()))?;
        let mut paths = Paths { here: module.clone(), found: Vec::new() };
        paths.visit_file(&file);
        let own = |mut path: Module| {
            while !files.contains_key(&path) {
                path.pop()?;
            }
            let is_parent = module.starts_with(&path);
            (!is_parent && !is_test(&path)).then_some(path)
        };
        imports.insert(module.clone(), paths.found.into_iter().filter_map(own).collect());
    }
    Ok(imports)
}

/// The module of a file below the root of its crate.
fn module_of(inside: &Path) -> Module {
    let mut module: Module = inside
        .with_extension("")
        .components()
        .map(|part| part.as_os_str().to_string_lossy().into_owned())
        .collect();
    let is_named_by_its_folder = module.last().is_some_and(|last| last == "mod");
    let is_root = module.len() == 1 && (module[0] == "lib" || module[0] == "main");
    if is_named_by_its_folder || is_root {
        module.pop();
    }
    module
}

fn is_test(module: &[String]) -> bool {
    module.iter().any(|part| part == "tests" || part.ends_with("_tests"))
}

/// Collects the paths to modules of the crate. What begins with another name may be a child of where it stands.
struct Paths {
    here: Module,
    found: Vec<Module>,
}

impl Paths {
    fn add(&mut self, path: &[String]) {
        let mut module = self.here.clone();
        let mut rest = path;
        match path.first().map(String::as_str) {
            Some("crate") => {
                module.clear();
                rest = &path[1..];
            }
            Some("self") => rest = &path[1..],
            Some("super") => {
                while let Some((first, more)) = rest.split_first()
                    && first == "super"
                {
                    module.pop();
                    rest = more;
                }
            }
            _ => {}
        }
        module.extend_from_slice(rest);
        self.found.push(module);
    }

    fn add_tree(&mut self, before: &[String], tree: &UseTree) {
        let with = |name: String| [before, &[name]].concat();
        match tree {
            UseTree::Path(path) => self.add_tree(&with(path.ident.to_string()), &path.tree),
            UseTree::Name(name) => self.add(&with(name.ident.to_string())),
            UseTree::Rename(rename) => self.add(&with(rename.ident.to_string())),
            UseTree::Glob(_) => self.add(before),
            UseTree::Group(group) => {
                group.items.iter().for_each(|tree| self.add_tree(before, tree))
            }
        }
    }
}

impl<'a> Visit<'a> for Paths {
    fn visit_item_use(&mut self, item: &'a ItemUse) {
        self.add_tree(&[], &item.tree);
    }

    fn visit_path(&mut self, path: &'a syn::Path) {
        let parts: Vec<String> =
            path.segments.iter().map(|segment| segment.ident.to_string()).collect();
        self.add(&parts);
        visit::visit_path(self, path);
    }

    fn visit_item_mod(&mut self, item: &'a ItemMod) {
        let name = item.ident.to_string();
        if item.content.is_none() || is_test(std::slice::from_ref(&name)) {
            return;
        }
        self.here.push(name);
        visit::visit_item_mod(self, item);
        self.here.pop();
    }
}

/// A circle, from a module to itself, if there is one.
fn circle(imports: &BTreeMap<Module, BTreeSet<Module>>) -> Option<Vec<Module>> {
    let mut done = BTreeSet::new();
    imports.keys().find_map(|module| follow(imports, module, &mut Vec::new(), &mut done))
}

fn follow<'a>(
    imports: &'a BTreeMap<Module, BTreeSet<Module>>,
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
    let next = imports.get(module).into_iter().flatten();
    let found = next.into_iter().find_map(|next| follow(imports, next, way, done));
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
            ("x/src/b.rs", "#[cfg(test)] mod tests { use crate::a::A; }"),
            ("x/src/b/tests.rs", "use crate::a::A;"),
        ];
        assert_eq!(complaints(&files), Vec::<String>::new());
    }
}
