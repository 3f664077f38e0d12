//! The modules of a crate, and which of them each imports from: what the checks of circles and floors go by.
//!
//! A path leads to the module that it names, and through that module's own `use` to where the item is: who imports
//! something by way of another module depends on both. What is compiled for tests only imports what it likes.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use anyhow::{Context, Result};
use proc_macro2::{TokenStream, TokenTree};
use syn::visit::{self, Visit};
use syn::{ImplItem, Item, ItemMod, ItemUse, Macro, UseTree};

use super::test_code::{attributes, attributes_of_method, is_for_tests};
use super::text::{Tree, has_extension};

/// A module's path in its crate.
pub(super) type Module = Vec<String>;

/// Of each module that is a file and no test, those that it imports from.
pub(super) type Imports = BTreeMap<Module, BTreeSet<Module>>;

/// As many `use` lead on from each other at most; more are a circle of names.
const STEPS_MAX: usize = 16;

/// The folders with the source of a crate of ours.
pub(super) fn roots(tree: &Tree) -> BTreeSet<&Path> {
    let is_root = |path: &&PathBuf| path.ends_with("src/lib.rs") || path.ends_with("src/main.rs");
    tree.paths.iter().filter(is_root).filter_map(|path| path.parent()).collect()
}

/// Who imports from whom in the crate at `root`.
///
/// # Errors
/// If a file is no Rust.
pub(super) fn imports(tree: &Tree, root: &Path) -> Result<Imports> {
    let mut names = Names::default();
    for (path, text) in &tree.texts {
        if let Ok(inside) = path.strip_prefix(root)
            && has_extension(path, "rs")
        {
            let file =
                syn::parse_file(text).with_context(|| format!("parsing {}", path.display()))?;
            let module = module_of(inside);
            names.files.entry(module.clone()).or_default();
            names.here = module.clone();
            names.file = module;
            names.visit_file(&file);
        }
    }
    let is_test =
        |module: &Module| (1..=module.len()).any(|length| names.tests.contains(&module[..length]));
    let mut imports = Imports::new();
    for (module, paths) in names.files.iter().filter(|(module, _)| !is_test(module)) {
        let found = paths.iter().flat_map(|path| names.modules_on(path));
        let others = found.filter(|other| other != module && !is_test(other));
        imports.insert(module.clone(), others.collect());
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

/// What the files of a crate declare, and the paths that they name. What begins with another name than `crate`,
/// `self` and `super` may be a child of where it stands, or imported there.
#[derive(Default)]
struct Names {
    /// Where the visitor is: a file, or a module in one.
    here: Module,
    file: Module,
    /// The paths that each file names.
    files: BTreeMap<Module, Vec<Module>>,
    /// What a `use` of a module calls by which name.
    uses: BTreeMap<Module, Module>,
    /// Modules that are for tests only.
    tests: BTreeSet<Module>,
}

impl Names {
    /// The modules on the way of a path, and on that of each `use` that leads on.
    fn modules_on(&self, path: &[String]) -> Vec<Module> {
        let mut path = path.to_vec();
        let mut modules = Vec::new();
        for _ in 0..STEPS_MAX {
            let is_file = |length: &usize| self.files.contains_key(&path[..*length]);
            modules.extend((0..=path.len()).rev().find(is_file).map(|end| path[..end].to_vec()));
            let leads_on = |length: &usize| self.uses.contains_key(&path[..*length]);
            let Some(length) = (1..=path.len()).find(leads_on) else { break };
            let rest = path.split_off(length);
            path = [self.uses[&path].clone(), rest].concat();
        }
        modules
    }

    fn absolute(&self, path: &[String]) -> Module {
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
        module
    }

    fn add(&mut self, path: &[String]) {
        let path = self.absolute(path);
        self.files.entry(self.file.clone()).or_default().push(path);
    }

    fn add_use(&mut self, path: &[String], name: &str) {
        self.add(path);
        let bound = [self.here.as_slice(), &[name.to_owned()]].concat();
        let target = self.absolute(path);
        if bound != target {
            self.uses.insert(bound, target);
        }
    }

    fn add_tree(&mut self, before: &[String], tree: &UseTree) {
        let with = |name: String| [before, &[name]].concat();
        match tree {
            UseTree::Path(path) => self.add_tree(&with(path.ident.to_string()), &path.tree),
            UseTree::Name(name) if name.ident == "self" => {
                self.add_use(before, &before.last().cloned().unwrap_or_default());
            }
            UseTree::Name(name) => {
                self.add_use(&with(name.ident.to_string()), &name.ident.to_string());
            }
            UseTree::Rename(rename) => {
                self.add_use(&with(rename.ident.to_string()), &rename.rename.to_string());
            }
            UseTree::Glob(_) => self.add(before),
            UseTree::Group(group) => {
                group.items.iter().for_each(|tree| self.add_tree(before, tree));
            }
        }
    }

    /// The paths in a macro's tokens: names with `::` between them.
    fn add_tokens(&mut self, tokens: TokenStream) {
        let mut path: Vec<String> = Vec::new();
        let mut colons = 0;
        for token in tokens {
            match token {
                TokenTree::Ident(name) if colons == 2 || path.is_empty() => {
                    path.push(name.to_string());
                    colons = 0;
                    continue;
                }
                TokenTree::Punct(mark) if mark.as_char() == ':' && !path.is_empty() => {
                    colons += 1;
                    continue;
                }
                TokenTree::Ident(name) => {
                    self.add_path(&std::mem::replace(&mut path, vec![name.to_string()]));
                }
                TokenTree::Group(group) => {
                    self.add_path(&std::mem::take(&mut path));
                    self.add_tokens(group.stream());
                }
                TokenTree::Punct(_) | TokenTree::Literal(_) => {
                    self.add_path(&std::mem::take(&mut path));
                }
            }
            colons = 0;
        }
        self.add_path(&path);
    }

    /// A single name of a macro may be anything.
    fn add_path(&mut self, path: &[String]) {
        if path.len() > 1 {
            self.add(path);
        }
    }
}

impl<'a> Visit<'a> for Names {
    fn visit_item(&mut self, item: &'a Item) {
        if !is_for_tests(attributes(item)) {
            visit::visit_item(self, item);
        } else if let Item::Mod(module) = item {
            self.tests.insert([self.here.as_slice(), &[module.ident.to_string()]].concat());
        }
    }

    fn visit_impl_item(&mut self, item: &'a ImplItem) {
        if !is_for_tests(attributes_of_method(item)) {
            visit::visit_impl_item(self, item);
        }
    }

    fn visit_item_use(&mut self, item: &'a ItemUse) {
        self.add_tree(&[], &item.tree);
    }

    /// `pub(super)` imports nothing.
    fn visit_visibility(&mut self, _: &'a syn::Visibility) {}

    fn visit_path(&mut self, path: &'a syn::Path) {
        let parts: Vec<String> =
            path.segments.iter().map(|segment| segment.ident.to_string()).collect();
        self.add(&parts);
        visit::visit_path(self, path);
    }

    fn visit_macro(&mut self, called: &'a Macro) {
        self.add_tokens(called.tokens.clone());
        visit::visit_macro(self, called);
    }

    fn visit_item_mod(&mut self, item: &'a ItemMod) {
        self.here.push(item.ident.to_string());
        visit::visit_item_mod(self, item);
        self.here.pop();
    }
}
