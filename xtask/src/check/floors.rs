//! The floors of a crate: the table in ARCHITECTURE.md lists them from the top, and a module imports from the
//! floors below its own only.
//!
//! The table names rooms, the crate's own modules, and such parts of a room as lie on another floor than the
//! rest of it: that part is a room of its own here, below its parent or above it. Rooms of one floor do not know each
//! other.

use std::path::Path;

use anyhow::Result;

use super::modules::{Imports, Module, imports, roots};
use super::text::{Tree, code_words, rows};

/// Where the floors are listed, and below which heading.
const TABLE: (&str, &str) = ("ARCHITECTURE.md", "Floors");

/// A room, or a part of one, with the number of its floor from the top.
type Place = (Module, usize);

/// A complaint for each import that leads to the same floor or upwards, and for each room that is on none.
pub(super) fn check(tree: &Tree) -> Result<Vec<String>> {
    let rows = rows(tree.text(Path::new(TABLE.0)), TABLE.1);
    let mut complaints = Vec::new();
    if rows.is_empty() {
        complaints.push(format!("{}: there is no table below the heading {}", TABLE.0, TABLE.1));
    }
    for row in rows {
        let Some((name, floors)) = row.split_first() else { continue };
        for folder in code_words(name) {
            let root = Path::new(folder).join("src");
            if roots(tree).contains(root.as_path()) {
                let (imports, places) = (imports(tree, &root)?, places(&floors.join(" ")));
                let wrong = wrong(&imports, &places);
                complaints.extend(wrong.map(|wrong| format!("{folder}: {wrong}")));
            } else {
                complaints.push(format!("{}: {folder} has floors and is no crate", TABLE.0));
            }
        }
    }
    Ok(complaints)
}

/// What a row says: floors from the top with semicolons between them.
fn places(floors: &str) -> Vec<Place> {
    let module = |word: &str| word.split("::").map(str::to_owned).collect();
    let on_floor = |(number, floor)| code_words(floor).map(move |word| (module(word), number));
    floors.split(';').enumerate().flat_map(on_floor).collect()
}

fn wrong<'a>(imports: &'a Imports, places: &'a [Place]) -> impl Iterator<Item = String> + 'a {
    let place = |module: &Module| {
        let all = places.iter().filter(|(place, _)| module.starts_with(place));
        all.max_by_key(|(place, _)| place.len())
    };
    let absent = places.iter().filter(|(module, _)| !imports.contains_key(module));
    let absent =
        absent.map(|(module, _)| format!("`{}` has a floor and is no module", module.join("::")));
    let homeless =
        imports.keys().filter(move |module| module.len() == 1 && place(module).is_none());
    let homeless = homeless.map(|module| {
        format!("`{}` is on no floor; see \"{}\" in {}", module[0], TABLE.1, TABLE.0)
    });
    let all = imports.iter().flat_map(|(from, used)| used.iter().map(move |to| (from, to)));
    let upward = all.filter_map(move |(from, to)| {
        let ((here, floor), (there, other)) = (place(from)?, place(to)?);
        (here != there && floor >= other).then(|| {
            let [here, there, from, to] = [here, there, from, to].map(|module| module.join("::"));
            let where_to = if floor == other { "on the same floor" } else { "on a floor above" };
            format!("`{here}` imports `{there}`, {where_to} ({from} imports {to})")
        })
    });
    absent.chain(homeless).chain(upward)
}

#[cfg(test)]
mod tests {
    use super::check;
    use crate::check::text::Tree;

    /// Of a crate with the rooms `a`, `b` and `c`, and `floors` in the table.
    fn complaints(floors: &str, a: &str, b: &str, c: &str) -> Vec<String> {
        let table = format!(
            "# House\n\n## Floors\n\n| crate | floors |\n|---|---|\n| `x` | {floors} |\n\n## Rest\n| `y` | `z` |\n"
        );
        let mut tree = Tree::default();
        for (path, text) in [
            ("ARCHITECTURE.md", table.as_str()),
            ("x/src/lib.rs", "mod a; mod b; mod c; use a::A; #[cfg(test)] mod fake;"),
            ("x/src/a.rs", a),
            ("x/src/b/mod.rs", "pub mod state; use state::S;"),
            ("x/src/b/state.rs", b),
            ("x/src/c.rs", c),
            ("x/src/fake.rs", "use crate::a::A;"),
        ] {
            tree.paths.insert(path.into());
            tree.texts.push((path.into(), text.to_owned()));
        }
        check(&tree).unwrap()
    }

    #[test]
    fn a_module_imports_downwards() {
        for (floors, a, b, c) in [
            ("`a`; `b`; `c`", "use crate::b::state::S; use crate::c;", "use crate::c::C;", ""),
            ("`a`; `b`; `c`", "use crate::b::S;", "", "#[cfg(test)] mod t { use crate::a; }"),
            ("`b`; `a`, `c`; `b::state`", "use crate::b::state::S;", "", ""),
        ] {
            assert_eq!(complaints(floors, a, b, c), [""; 0], "{floors}");
        }
    }

    #[test]
    fn an_import_upwards_is_named() {
        for (floors, a, b, c, complaint) in [
            (
                "`a`; `b`; `c`",
                "",
                "use crate::a::A;",
                "",
                "x: `b` imports `a`, on a floor above (b::state imports a)",
            ),
            (
                "`b::state`; `b`; `a`, `c`",
                "",
                "use crate::a::A;",
                "",
                "x: `b` imports `b::state`, on a floor above (b imports b::state)",
            ),
            (
                "`b`; `b::state`; `a`, `c`",
                "",
                "use super::B;",
                "",
                "x: `b::state` imports `b`, on a floor above (b::state imports b)",
            ),
            (
                "`a`; `b`, `c`",
                "",
                "",
                "use crate::b::state;",
                "x: `c` imports `b`, on the same floor (c imports b::state)",
            ),
            (
                "`b`; `c`; `a`",
                "use crate::b::S;",
                "",
                "",
                "x: `a` imports `b`, on a floor above (a imports b)",
            ),
            (
                "`b`; `a`; `b::state`; `c`",
                "",
                "use crate::a;",
                "",
                "x: `b::state` imports `a`, on a floor above (b::state imports a)",
            ),
        ] {
            assert_eq!(complaints(floors, a, b, c)[0], complaint, "{floors}");
        }
    }

    #[test]
    fn without_a_table_nothing_would_be_checked() {
        assert_eq!(check(&Tree::default()).unwrap().len(), 1);
    }

    #[test]
    fn every_room_is_on_a_floor_and_every_floor_there() {
        let found = complaints("`a`; `b`; `d`", "", "", "");
        assert_eq!(
            found,
            [
                "x: `d` has a floor and is no module",
                "x: `c` is on no floor; see \"Floors\" in ARCHITECTURE.md"
            ]
        );
    }
}
