//! Text from files, names and symbols, as it may be shown: a terminal acts on nothing in it.
//!
//! A partition's console is not such text: it goes to the terminal as the partition wrote it.

use std::borrow::Cow;

/// The text with each control character but the line end, such as the escape that terminal commands begin with, as
/// Rust writes it: `\u{1b}`.
#[must_use]
pub fn visible(text: &str) -> Cow<'_, str> {
    spelled_out(text, |character| character.is_control() && character != '\n')
}

/// The same with line ends too: what is of one line stays so, whatever names are in it.
#[must_use]
pub fn one_line(text: &str) -> Cow<'_, str> {
    spelled_out(text, char::is_control)
}

fn spelled_out(text: &str, is_hidden: impl Fn(char) -> bool) -> Cow<'_, str> {
    if !text.contains(&is_hidden) {
        return Cow::Borrowed(text);
    }
    let mut shown = String::with_capacity(text.len());
    for character in text.chars() {
        if is_hidden(character) {
            shown.extend(character.escape_default());
        } else {
            shown.push(character);
        }
    }
    Cow::Owned(shown)
}

#[cfg(test)]
mod tests {
    use super::{one_line, visible};

    #[test]
    fn what_a_terminal_would_act_on_is_spelled_out() {
        assert_eq!(visible("a\nä 漢"), "a\nä 漢");
        assert_eq!(visible("\x1b[2J\u{9b}1m\x07\r\x7f"), "\\u{1b}[2J\\u{9b}1m\\u{7}\\r\\u{7f}");
        assert_eq!(one_line("a\nä\x1b 漢"), "a\\nä\\u{1b} 漢");
    }
}
