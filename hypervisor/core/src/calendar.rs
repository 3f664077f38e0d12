//! Dates and times: between firmware's decimal digits, RTAS's numbers and seconds.

use time::{Date, Month, OffsetDateTime, PrimitiveDateTime, Time};

/// A date and a time of day in the proleptic Gregorian calendar.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct DateTime {
    /// Year.
    pub year: u32,
    /// 1 to 12.
    pub month: u32,
    /// 1 to 31.
    pub day: u32,
    /// 0 to 23.
    pub hour: u32,
    /// 0 to 59.
    pub minute: u32,
    /// 0 to 59.
    pub second: u32,
}

impl DateTime {
    /// Whether there is such a day and time, in the years 0 to 9999.
    #[must_use]
    pub fn is_valid(self) -> bool {
        self.to_seconds().is_some()
    }

    /// Seconds since the start of 1970, negative before it, if the date is valid.
    #[must_use]
    pub fn to_seconds(self) -> Option<i64> {
        let small = |number: u32| u8::try_from(number).ok();
        let month = Month::try_from(small(self.month)?).ok()?;
        let year = i32::try_from(self.year).ok()?;
        let date = Date::from_calendar_date(year, month, small(self.day)?).ok()?;
        let time =
            Time::from_hms(small(self.hour)?, small(self.minute)?, small(self.second)?).ok()?;
        Some(PrimitiveDateTime::new(date, time).assume_utc().unix_timestamp())
    }

    /// The date so many seconds after the start of 1970, or before it, in the years 0 to 9999.
    #[must_use]
    pub fn from_seconds(seconds: i64) -> Option<Self> {
        let moment = OffsetDateTime::from_unix_timestamp(seconds).ok()?;
        let (hour, minute, second) = moment.to_hms();
        let [day, hour, minute, second] = [moment.day(), hour, minute, second].map(u32::from);
        let month = u32::from(u8::from(moment.month()));
        Some(Self { year: u32::try_from(moment.year()).ok()?, month, day, hour, minute, second })
    }

    /// From OPAL's clock: `yyyymmdd` and, from the top, `hhmmss`, both binary-coded decimal.
    #[must_use]
    pub fn from_digits(date: u32, time: u64) -> Option<Self> {
        let two = |value: u64| {
            let (tens, ones) = (value >> 4 & 0xF, value & 0xF);
            (tens < 10 && ones < 10).then_some((tens * 10 + ones) as u32)
        };
        let of_date = |shift: u32| two(u64::from(date >> shift));
        let of_time = |shift: u32| two(time >> shift);
        let result = Self {
            year: of_date(24)? * 100 + of_date(16)?,
            month: of_date(8)?,
            day: of_date(0)?,
            hour: of_time(56)?,
            minute: of_time(48)?,
            second: of_time(40)?,
        };
        result.is_valid().then_some(result)
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::DateTime;
    use proptest::prelude::{any, prop_assert, prop_assert_eq, proptest};

    fn date(year: u32, month: u32, day: u32) -> DateTime {
        DateTime { year, month, day, hour: 0, minute: 0, second: 0 }
    }

    #[test]
    fn known_days_have_known_distances() {
        let seconds = |date: DateTime| date.to_seconds().unwrap();
        assert_eq!(seconds(date(1970, 1, 1)), 0);
        assert_eq!(seconds(date(0, 1, 1)), -719_528 * 86_400);
        assert_eq!(seconds(date(2000, 3, 1)), 951_868_800);
        assert_eq!(seconds(date(2001, 9, 9)) + 6400, 1_000_000_000);
        assert_eq!(date(1900, 2, 29).to_seconds(), None);
        assert_eq!(date(2024, 13, 1).to_seconds(), None);
        assert_eq!(date(10_000, 1, 1).to_seconds(), None);
        assert_eq!(DateTime::from_seconds(-719_528 * 86_400 - 1), None);
        assert_eq!(DateTime::from_seconds(i64::MAX), None);
    }

    #[test]
    fn firmwares_digits_are_decimal() {
        let expected = DateTime { hour: 23, minute: 59, second: 58, ..date(2024, 12, 31) };
        assert_eq!(DateTime::from_digits(0x2024_1231, 0x2359_5800_0000_0000), Some(expected));
        assert_eq!(DateTime::from_digits(0x2024_123A, 0), None);
        assert_eq!(DateTime::from_digits(0x2023_0229, 0), None);
    }

    proptest! {
        #[test]
        fn seconds_and_dates_are_two_ways_to_say_the_same(seconds in -62_167_219_200i64..253_402_300_800) {
            let date = DateTime::from_seconds(seconds).unwrap();
            prop_assert!(date.is_valid());
            prop_assert_eq!(date.to_seconds(), Some(seconds));
        }

        #[test]
        fn digits_do_not_panic(date in any::<u32>(), time in any::<u64>()) {
            prop_assert!(DateTime::from_digits(date, time).is_none_or(|date| date.is_valid()));
        }
    }
}
