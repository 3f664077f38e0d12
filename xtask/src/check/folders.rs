//! Walks the source tree, and folders that say nothing about what is in them.

use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result};

/// Folders that hold nothing of ours.
const FOREIGN: [&str; 2] = ["target", ".git"];
/// Folder and module names that hide what something is.
const FORBIDDEN: [&str; 6] = ["legacy", "misc", "util", "utils", "common", "helpers"];

/// Every file and folder below `root`, without the foreign ones, in a fixed order.
pub(super) fn walk(root: &Path) -> Result<Vec<PathBuf>> {
    let mut found = Vec::new();
    let mut open = vec![root.to_owned()];
    while let Some(folder) = open.pop() {
        for entry in
            fs::read_dir(&folder).with_context(|| format!("reading {}", folder.display()))?
        {
            let path = entry?.path();
            let is_foreign =
                FOREIGN.iter().any(|name| path.file_name().is_some_and(|file| file == *name));
            if path.is_dir() && !path.is_symlink() && !is_foreign {
                open.push(path.clone());
            }
            if !is_foreign {
                found.push(path);
            }
        }
    }
    found.sort();
    Ok(found)
}

/// A complaint for each forbidden name.
pub(super) fn check(root: &Path) -> Result<Vec<String>> {
    let found = walk(root)?;
    let named = found.iter().filter(|path| {
        path.file_stem().is_some_and(|stem| FORBIDDEN.iter().any(|name| stem == *name))
    });
    Ok(named
        .map(|path| {
            format!("{}: a name that says nothing; name it after what it holds", path.display())
        })
        .collect())
}
