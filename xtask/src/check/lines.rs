//! How long lines are: rustfmt breaks code, and nobody breaks comments.

use std::path::PathBuf;

use super::text::{Tree, has_extension};

/// Columns of a comment that people read without turning their heads. A row of a table may be longer.
const LONGEST: usize = 120;

/// A complaint for each line of a Rust file that is a longer comment.
pub(super) fn check(tree: &Tree) -> Vec<String> {
    let is_rust = |(path, _): &&(PathBuf, String)| has_extension(path, "rs");
    let mut complaints = Vec::new();
    for (path, text) in tree.texts.iter().filter(is_rust) {
        for (number, line) in (1..).zip(text.lines()) {
            let comment = line.trim_start().strip_prefix("//");
            let comment = comment.map(|text| text.trim_start_matches(['/', '!']).trim_start());
            if comment.is_some_and(|text| !text.starts_with('|')) && line.chars().count() > LONGEST
            {
                let text = "a comment has 120 columns at most";
                complaints.push(format!("{}:{number}: {text}", path.display()));
            }
        }
    }
    complaints
}

#[cfg(test)]
mod tests {
    use super::check;
    use crate::check::text::Tree;

    #[test]
    fn a_comment_is_not_longer_than_people_read() {
        let mut tree = Tree::default();
        let long = "x".repeat(117);
        let lines = ["// ", "//  ", "/// | ", "let a = ", "    //! "];
        let text: String = lines.iter().map(|start| format!("{start}{long}\n")).collect();
        tree.texts.push(("x/src/lib.rs".into(), text));
        let complaint = |line| format!("x/src/lib.rs:{line}: a comment has 120 columns at most");
        assert_eq!(check(&tree), [2, 5].map(complaint));
    }
}
