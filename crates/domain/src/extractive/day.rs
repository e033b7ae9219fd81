//! The lines that say on which day what follows was said: `On 8 May 2023:`.

use jiff::{civil::Date, tz::TimeZone};

use crate::{
    Sequence, Timestamp,
    extractive::sentence::{LineKind, Sentence, total},
};

/// A header, with its line end; the second reads a day with or without a leading zero.
const HEADER: &str = "On %-d %B %Y:\n";
const READ: &str = "On %d %B %Y:\n";
/// Days take at most one part in this many of a budget; then the oldest are left out.
const BUDGET_PARTS: u32 = 5;

/// A day, in UTC.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Day(Date);

impl Day {
    /// The day of a moment.
    pub(super) fn of(time: Timestamp) -> Self {
        let moment = jiff::Timestamp::from_microsecond(time.0).unwrap_or(jiff::Timestamp::UNIX_EPOCH);
        Self(TimeZone::UTC.to_datetime(moment).date())
    }

    /// Whether the time was set.
    pub(super) fn is_known(&self) -> bool {
        self.0.year() > 1970
    }

    /// The header of what was said on it.
    pub(super) fn header(&self) -> String {
        self.0.strftime(HEADER).to_string()
    }

    /// The line of the header, above what was said at `sequence`.
    pub(super) fn line(&self, sequence: Sequence, tokens: u32) -> Sentence {
        Sentence::plain(LineKind::Said, sequence, self.header().into(), 0, tokens)
    }
}

impl Sentence {
    /// Whether the line is the header of a day.
    pub(crate) fn is_day(&self) -> bool {
        self.text.starts_with("On ") && Date::strptime(READ, &*self.text).is_ok()
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
    pub(super) fn within(&mut self, budget: u32) -> u32 {
        self.0.sort_by_key(|header| header.sequence);
        self.0.dedup_by(|later, earlier| later.text == earlier.text);
        let room = budget / BUDGET_PARTS;
        let mut tokens = 0;
        let fits = |header: &&Sentence| {
            tokens += header.tokens;
            tokens <= room
        };
        let kept = self.0.iter().rev().take_while(fits).count();
        self.0.drain(..self.0.len() - kept);
        total(&self.0)
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
