//! A text that the console may show, in pieces.

/// What is waited for.
pub(super) struct Awaited {
    pub(super) text: String,
    /// As much of the console's end as the text may begin in.
    seen: Vec<u8>,
}

impl Awaited {
    /// A text of at least one byte.
    pub(super) fn new(text: &str) -> Self {
        Self { text: text.to_owned(), seen: Vec::new() }
    }

    /// Whether the text is there, with the next `bytes`.
    pub(super) fn comes(&mut self, bytes: &[u8]) -> bool {
        self.seen.extend(bytes);
        let length = self.text.len().max(1);
        let is_there = self.seen.windows(length).any(|window| window == self.text.as_bytes());
        let kept = self.seen.len().saturating_sub(length - 1);
        self.seen.drain(..kept);
        is_there
    }
}

#[cfg(test)]
mod tests {
    use super::Awaited;

    #[test]
    fn a_text_is_found_once_wherever_it_is_cut() {
        let console = b"\x1b[6n/ / # cat";
        for cut in 0..=console.len() {
            let mut awaited = Awaited::new("/ # ");
            let (first, second) = console.split_at(cut);
            let found = [first, second, b"x"].map(|bytes| awaited.comes(bytes));
            assert_eq!(found.iter().filter(|is_there| **is_there).count(), 1, "{cut}");
        }
    }
}
