//! The Gregorian calendar, in UTC.

/// Returns the year, month and day of `day`, which counts from 1 January 1970.
///
/// Uses Howard Hinnant's civil_from_days: years start in March, so that a leap day comes last.
pub(crate) fn date(day: i64) -> (i64, i64, i64) {
    const DAYS_TO_EPOCH: i64 = 719_468;
    const DAYS_OF_ERA: i64 = 146_097;
    let day = day + DAYS_TO_EPOCH;
    let (era, of_era) = (day.div_euclid(DAYS_OF_ERA), day.rem_euclid(DAYS_OF_ERA));
    let year = (of_era - of_era / 1_460 + of_era / 36_524 - of_era / 146_096) / 365;
    let of_year = of_era - (365 * year + year / 4 - year / 100);
    let month = (5 * of_year + 2) / 153;
    let of_month = of_year - (153 * month + 2) / 5 + 1;
    let month = if month < 10 { month + 3 } else { month - 9 };
    (400 * era + year + i64::from(month <= 2), month, of_month)
}
