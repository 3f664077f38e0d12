//! What must hold of the source text, whatever the tests say.

mod circles;
mod citations;
mod floors;
mod folders;
mod guests;
mod keys;
mod layers;
mod lines;
mod modules;
mod registers;
mod sources;
mod test_code;
mod text;
mod unsafety;

use anyhow::{Result, bail};

use crate::join::files;
use crate::workspace::{Workspace, run};

pub(crate) fn check(workspace: &Workspace) -> Result<()> {
    let tree = text::Tree::read(&workspace.root)?;
    let mut complaints = layers::check(&workspace.packages, &tree)?;
    complaints.extend(guests::check(&workspace.packages, &tree));
    complaints.extend(folders::check(&workspace.root)?);
    complaints.extend(unsafety::check(&workspace.root)?);
    complaints.extend(citations::check(&tree));
    complaints.extend(sources::check(&tree));
    complaints.extend(registers::check(&tree));
    complaints.extend(keys::check(&tree));
    complaints.extend(lines::check(&tree));
    complaints.extend(circles::check(&tree)?);
    complaints.extend(floors::check(&tree)?);
    complaints.extend(test_code::check(&tree)?);
    let joined = files(&workspace.root)?;
    complaints.extend(joined.iter().filter(|file| !file.is_fresh()).map(|file| {
        format!("{}: it is not what {} makes; run `cargo xtask join`", file.path, file.parts)
    }));
    if !complaints.is_empty() {
        bail!("the house is not in order\n  {}", complaints.join("\n  "));
    }
    run(&mut workspace.cargo(&["fmt", "--all", "--check"]))?;
    run(&mut workspace.cargo(&["fmt", "--manifest-path", "fuzz/Cargo.toml", "--check"]))?;
    run(&mut workspace.cargo(&[
        "clippy",
        "--quiet",
        "--workspace",
        "--all-targets",
        "--",
        "--deny",
        "warnings",
    ]))
}
