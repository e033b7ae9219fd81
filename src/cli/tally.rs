//! What a replay did, in numbers.

use std::{ops::AddAssign, time::Duration};

use super::text::{count, counted};

/// Counts of one transcript, or of all.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Tally {
    /// Transcripts replayed to their end.
    pub transcripts: u64,
    /// Utterances stored.
    pub utterances: u64,
    /// Their tokens.
    pub tokens: u64,
    /// Utterances of these that were kept leniently.
    pub lenient: u64,
    /// Utterances that an earlier replay had stored.
    pub already: u64,
}

impl AddAssign for Tally {
    fn add_assign(&mut self, other: Self) {
        self.transcripts += other.transcripts;
        self.utterances += other.utterances;
        self.tokens += other.tokens;
        self.lenient += other.lenient;
        self.already += other.already;
    }
}

impl Tally {
    /// The closing line.
    pub fn line(&self, took: Duration) -> String {
        let mut parts = vec![counted(self.utterances, "utterance"), counted(self.tokens, "token")];
        if self.lenient > 0 {
            parts.push(format!("{} kept leniently", count(self.lenient)));
        }
        if self.already > 0 {
            parts.push(format!("{} already there", count(self.already)));
        }
        let transcripts = counted(self.transcripts, "transcript");
        format!("replayed {transcripts}: {}, in {:.1} s", parts.join(", "), took.as_secs_f64())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_closing_line_names_what_there_is() {
        let mut tally =
            Tally { transcripts: 1, utterances: 6_210, tokens: 1_234_567, lenient: 48, already: 0 };
        let line = tally.line(Duration::from_millis(3_210));
        assert_eq!(
            line,
            "replayed 1 transcript: 6,210 utterances, 1,234,567 tokens, 48 kept leniently, in 3.2 s"
        );
        tally += Tally { already: 1, transcripts: 1, ..Tally::default() };
        assert!(tally.line(Duration::ZERO).ends_with("1 already there, in 0.0 s"));
    }
}
