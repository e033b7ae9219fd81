//! A summary that a caller keeps as text: it is told anew with what has left the window since.

use std::sync::Arc;

use crate::{
    Ranges, Sequence, TokenCounter, Utterance,
    extract::{Extract, Line, Wanted, extract, items, items_of_text},
    segment::{record::Segment, summary::Summary, summary_context::SummaryContext},
};

impl Summary {
    /// The summary of the first `messages` of a conversation that says `text`.
    pub fn of_text(text: &str, messages: u64, counter: &dyn TokenCounter) -> Self {
        let covers = Ranges::of(Sequence::FIRST, Sequence(messages));
        let line = |line: &str| Line { from: covers.clone(), ..Line::quoted(line, counter) };
        let told = Extract { items: items_of_text(text), lines: text.lines().map(line).collect() };
        Self::numbered(vec![Arc::new(Segment::new(0, covers.clone(), told, u64::from(u32::MAX)))], 2)
    }

    /// The summary that tells this and what `left` the window, chosen from all of it.
    pub fn tell_anew(&self, left: &[Arc<Utterance>], focus: &[String], with: &SummaryContext<'_>) -> Self {
        let mut all = self.items();
        all.extend(items(left));
        let wanted = Wanted { budget: with.limit(), part: with.part(true), focus: focus.to_vec() };
        let told = extract(all, &wanted, with.limit(), with.counter);
        let mut covers = self.covers();
        covers.union(&left.iter().map(|utterance| utterance.sequence).collect());
        let segment = Segment::new(0, covers, told, u64::from(u32::MAX));
        Self::numbered(vec![Arc::new(segment)], self.next_number() + 1)
    }
}
