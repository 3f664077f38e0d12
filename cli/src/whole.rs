//! A whole number as people write it on the command line: `1000000`, or `1_000_000`.

/// The number, from `LEAST` to `MOST`, if the text is one.
///
/// # Errors
/// What it has to be.
pub fn whole<T: TryFrom<u64>, const LEAST: u64, const MOST: u64>(text: &str) -> Result<T, String> {
    let is_begun = text.starts_with(|first: char| first.is_ascii_digit());
    let number = text.replace('_', "").parse().ok().filter(|_| is_begun);
    let number = number.filter(|number| (LEAST..=MOST).contains(number));
    number.and_then(|number| T::try_from(number).ok()).ok_or_else(|| {
        format!(
            "it must be a whole number from {LEAST} to {MOST}, in decimal digits, such as {}",
            MOST.min(LEAST + 1000)
        )
    })
}

#[cfg(test)]
mod tests {
    use super::whole;

    #[test]
    fn digits_make_a_number() {
        for (text, number) in
            [("0", 0), ("7", 7), ("1_000_000", 1_000_000), ("18446744073709551615", u64::MAX)]
        {
            assert_eq!(whole::<u64, 0, { u64::MAX }>(text), Ok(number));
        }
        assert_eq!(whole::<u16, 0, 65_535>("65535"), Ok(u16::MAX));
    }

    #[test]
    fn what_is_none_is_told_what_it_has_to_be() {
        for text in ["", "_", "_1", "+1", "-1", "1e6", "0x10", "1.5", "1 000", "few", "101", "0"] {
            let error = whole::<u64, 1, 100>(text).unwrap_err();
            let expected =
                "it must be a whole number from 1 to 100, in decimal digits, such as 100";
            assert_eq!(error, expected, "{text}");
        }
        assert!(whole::<u64, 0, { u64::MAX }>("18446744073709551616").is_err());
    }
}
