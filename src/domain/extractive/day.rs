//! The lines that say on which day what follows was said: `On 8 May 2023:`.

use jiff::civil::Date;

use crate::domain::{
    Sequence, Timestamp, TokenCounter,
    extractive::sentence::{LineKind, Sentence},
};

const START: &str = "On ";
const END: &str = ":\n";
const MONTHS: [&str; 12] = [
    "January",
    "February",
    "March",
    "April",
    "May",
    "June",
    "July",
    "August",
    "September",
    "October",
    "November",
    "December",
];
/// Days take at most one part in this many of a budget; then the oldest are left out.
const BUDGET_PARTS: u32 = 5;

/// A day, in UTC.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Day(Date);

impl Day {
    /// The day of a moment.
    pub(super) fn of(time: Timestamp) -> Self {
        let moment = jiff::Timestamp::from_microsecond(time.0).unwrap_or(jiff::Timestamp::UNIX_EPOCH);
        Self(moment.to_zoned(jiff::tz::TimeZone::UTC).date())
    }

    /// Whether the time was set.
    pub(super) fn is_known(&self) -> bool {
        self.0.year() > 1970
    }

    /// The header of what was said on it.
    pub(super) fn header(&self) -> String {
        let month = MONTHS[(self.0.month() as usize - 1).min(11)];
        format!("{START}{} {month} {}{END}", self.0.day(), self.0.year())
    }

    /// The line of the header, above what was said at `sequence`.
    pub(super) fn line(&self, sequence: Sequence, tokens: u32) -> Sentence {
        Sentence::plain(LineKind::Said, sequence, self.header().into(), 0, tokens)
    }
}

impl Sentence {
    /// Whether the line is the header of a day.
    pub(in crate::domain) fn is_day(&self) -> bool {
        let inside = self.text.strip_prefix(START).and_then(|text| text.strip_suffix(END));
        inside.is_some_and(|day| {
            let mut words = day.split(' ').skip(1);
            words.next().is_some_and(|word| MONTHS.contains(&word))
                && words.next().is_some_and(|year| year.parse::<i16>().is_ok())
                && words.next().is_none()
        })
    }
}

/// The headers of earlier lines.
#[derive(Debug, Default)]
pub(super) struct Days(Vec<Sentence>);

impl Days {
    pub(super) fn add(&mut self, header: Sentence) {
        self.0.push(header);
    }

    /// Puts the headers in order, leaves out repetitions and those for which there is no room; returns their tokens.
    pub(super) fn within(&mut self, budget: u32, counter: &dyn TokenCounter) -> u32 {
        self.0.sort_by_key(|header| header.sequence);
        self.0.dedup_by(|later, earlier| later.text == earlier.text);
        let mut left = budget / BUDGET_PARTS;
        let mut room = |header: &Sentence| {
            let fits = counter.count(&header.text) <= left;
            left = left.saturating_sub(header.tokens);
            fits
        };
        let dropped = self.0.iter().rev().position(|header| !room(header));
        self.0.drain(..dropped.map_or(0, |at| self.0.len() - at));
        self.0.iter().map(|header| header.tokens).sum()
    }

    /// The lines, in the order said, each day below its header.
    pub(super) fn above(&self, lines: &[Sentence]) -> Vec<Sentence> {
        let (mut told, mut last) = (Vec::with_capacity(lines.len() + self.0.len()), None);
        for line in lines {
            let day = self.0.partition_point(|header| header.sequence <= line.sequence).checked_sub(1);
            if let Some(at) = day.filter(|_| day != last) {
                told.push(self.0[at].clone());
                last = day;
            }
            told.push(line.clone());
        }
        told
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_header_is_known_as_such() {
        let line = |text: &str| Sentence::plain(LineKind::Said, Sequence(1), text.into(), 0, 0);
        let day = Day::of(Timestamp(1_683_554_160_000_000));
        assert_eq!(day.header(), "On 8 May 2023:\n");
        assert!(day.line(Sequence(1), 7).is_day());
        for text in ["User: On 8 May 2023:\n", "On 8 Mai 2023:\n", "On 8 May 2023: hi\n", "On the way:\n"] {
            assert!(!line(text).is_day(), "{text}");
        }
    }
}
