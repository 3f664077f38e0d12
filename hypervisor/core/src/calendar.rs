//! Dates and times: between firmware's decimal digits, RTAS's numbers and seconds.

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

const DAY: i64 = 86_400;

const fn is_leap(year: u32) -> bool {
    year.is_multiple_of(4) && (!year.is_multiple_of(100) || year.is_multiple_of(400))
}

const fn days_of_month(year: u32, month: u32) -> u32 {
    match month {
        2 if is_leap(year) => 29,
        2 => 28,
        4 | 6 | 9 | 11 => 30,
        _ => 31,
    }
}

/// Days from the start of the year 0 to the start of `year`.
const fn days_before_year(year: i64) -> i64 {
    // Leap years before `year`, 0 among them.
    let leaps = if year == 0 {
        0
    } else {
        let last = year - 1;
        last / 4 - last / 100 + last / 400 + 1
    };
    year * 365 + leaps
}

impl DateTime {
    /// Whether there is such a day and time, in the years 0 to 9999.
    #[must_use]
    pub const fn is_valid(&self) -> bool {
        self.year <= 9999
            && 1 <= self.month
            && self.month <= 12
            && 1 <= self.day
            && self.day <= days_of_month(self.year, self.month)
            && self.hour < 24
            && self.minute < 60
            && self.second < 60
    }

    /// Seconds since the start of the year 0, if the date is valid.
    #[must_use]
    pub fn to_seconds(self) -> Option<i64> {
        if !self.is_valid() {
            return None;
        }
        let months: u32 = (1..self.month).map(|month| days_of_month(self.year, month)).sum();
        let days = days_before_year(i64::from(self.year)) + i64::from(months + self.day - 1);
        Some(days * DAY + i64::from(self.hour * 3600 + self.minute * 60 + self.second))
    }

    /// The date so many seconds after the start of the year 0, up to the end of the year 9999.
    #[must_use]
    pub fn from_seconds(seconds: i64) -> Option<Self> {
        let (days, rest) = (seconds.div_euclid(DAY), seconds.rem_euclid(DAY) as u32);
        if days < 0 || days >= days_before_year(10_000) {
            return None;
        }
        // A year has at least 365 days, so this is not too early by more than a few years.
        let mut year = days / 366;
        while days_before_year(year + 1) <= days {
            year += 1;
        }
        let mut day = (days - days_before_year(year)) as u32;
        let (year, mut month) = (year as u32, 1);
        while day >= days_of_month(year, month) {
            day -= days_of_month(year, month);
            month += 1;
        }
        let (hour, minute, second) = (rest / 3600, rest / 60 % 60, rest % 60);
        Some(Self { year, month, day: day + 1, hour, minute, second })
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

#[cfg(test)]
mod tests {
    use super::DateTime;
    use proptest::prelude::{any, prop_assert, prop_assert_eq, proptest};

    fn date(year: u32, month: u32, day: u32) -> DateTime {
        DateTime { year, month, day, hour: 0, minute: 0, second: 0 }
    }

    #[test]
    fn known_days_have_known_distances() {
        let seconds = |date: DateTime| date.to_seconds().unwrap();
        let epoch = seconds(date(1970, 1, 1));
        assert_eq!(epoch, 719_528 * 86_400);
        assert_eq!(seconds(date(2000, 3, 1)) - epoch, 951_868_800);
        assert_eq!(seconds(date(2001, 9, 9)) + 6400 - epoch, 1_000_000_000);
        assert_eq!(date(1900, 2, 29).to_seconds(), None);
        assert_eq!(date(2024, 13, 1).to_seconds(), None);
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
        fn seconds_and_dates_are_two_ways_to_say_the_same(seconds in 0i64..315_569_520_000) {
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
