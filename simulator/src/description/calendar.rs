//! The date that firmware's clock shows: where the description starts it, plus simulated time.

use time::{Duration, Month};

use crate::description::Date;

const DAY_SECONDS: u64 = 24 * 60 * 60;

/// A number of two decimal digits, one in each nibble.
fn decimal(value: u64) -> u64 {
    value / 10 % 10 * 16 + value % 10
}

fn day(date: Date) -> Option<time::Date> {
    let month = Month::try_from(u8::try_from(date.month).ok()?).ok()?;
    let day = u8::try_from(date.day).ok()?;
    time::Date::from_calendar_date(i32::try_from(date.year).ok()?, month, day).ok()
}

/// What `OPAL_RTC_READ` answers `seconds` after `start`: year, month and day in binary-coded decimal,
/// and hour, minute and second in the upper bytes of a doubleword.
///
/// # Panics
/// If there is no such day as `start`: see [`exists`].
#[must_use]
pub fn read(start: Date, seconds: u64) -> (u32, u64) {
    let days = Duration::days((seconds / DAY_SECONDS) as i64);
    let today = day(start).expect("the description was checked").saturating_add(days);
    let (year, month, day) = (today.year() as u64, u8::from(today.month()), today.day());
    let (month, day) = (u64::from(month), u64::from(day));
    let second = seconds % DAY_SECONDS;
    let date = decimal(year / 100) << 24 | decimal(year) << 16 | decimal(month) << 8 | decimal(day);
    let [hour, minute, second] = [second / 3600, second / 60 % 60, second % 60].map(decimal);
    (date as u32, hour << 56 | minute << 48 | second << 40)
}

/// Whether there is such a day.
#[must_use]
pub fn exists(date: Date) -> bool {
    (1..=9999).contains(&date.year) && day(date).is_some()
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
