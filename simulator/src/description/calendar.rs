//! The date that firmware's clock shows: where the description starts it, plus simulated time.

use crate::description::Date;

const DAY_SECONDS: u64 = 24 * 60 * 60;

/// A number of two decimal digits, one in each nibble.
fn decimal(value: u64) -> u64 {
    value / 10 % 10 * 16 + value % 10
}

fn is_leap(year: u64) -> bool {
    year.is_multiple_of(4) && (!year.is_multiple_of(100) || year.is_multiple_of(400))
}

fn days_in(year: u64, month: u64) -> u64 {
    match month {
        2 => 28 + u64::from(is_leap(year)),
        4 | 6 | 9 | 11 => 30,
        _ => 31,
    }
}

/// What `OPAL_RTC_READ` answers `seconds` after `start`: year, month and day in binary-coded decimal,
/// and hour, minute and second in the upper bytes of a doubleword.
#[must_use]
pub fn read(start: Date, seconds: u64) -> (u32, u64) {
    let Date { mut year, mut month, mut day } = start;
    for _ in 0..seconds / DAY_SECONDS {
        day += 1;
        if day > days_in(year, month) {
            (month, day) = (month + 1, 1);
        }
        if month > 12 {
            (year, month) = (year + 1, 1);
        }
    }
    let second = seconds % DAY_SECONDS;
    let date = decimal(year / 100) << 24 | decimal(year) << 16 | decimal(month) << 8 | decimal(day);
    let [hour, minute, second] = [second / 3600, second / 60 % 60, second % 60].map(decimal);
    (date as u32, hour << 56 | minute << 48 | second << 40)
}

/// Whether there is such a day.
#[must_use]
pub fn exists(date: Date) -> bool {
    (1..=9999).contains(&date.year)
        && (1..=12).contains(&date.month)
        && (1..=days_in(date.year, date.month)).contains(&date.day)
}

#[cfg(test)]
mod tests {
    use super::{DAY_SECONDS, read};
    use crate::description::Date;

    #[test]
    fn days_months_and_leap_years_carry() {
        let start = Date { year: 2023, month: 12, day: 31 };
        assert_eq!(read(start, 0), (0x2023_1231, 0));
        let late = DAY_SECONDS - 1;
        assert_eq!(read(start, late), (0x2023_1231, 0x2359_5900_0000_0000));
        assert_eq!(read(start, DAY_SECONDS).0, 0x2024_0101);
        assert_eq!(read(start, 60 * DAY_SECONDS).0, 0x2024_0229);
        assert_eq!(read(start, 61 * DAY_SECONDS).0, 0x2024_0301);
    }
}
