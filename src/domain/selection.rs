//! Which utterances an instruction selects.

use std::{collections::BTreeSet, sync::Arc};

use crate::domain::{
    Ranges, Role, Utterance,
    forgetting::{Criterion, Instruction, Take},
    recall::{Terms, holds_all, terms},
    segment::Summary,
};

/// A stored utterance, and its position if it is in the window.
pub type Candidate<'a> = (Option<u32>, &'a Arc<Utterance>);

impl Instruction {
    /// Whether it can select archived utterances: everything except positions and bare counts can.
    pub fn reaches_archive(&self) -> bool {
        let in_window = |criterion: &Criterion| matches!(criterion, Criterion::Position(_));
        !self.criteria().is_empty() && !self.criteria().iter().any(in_window)
    }

    /// Selects from `stored`, which is ascending by sequence.
    ///
    /// - Head instructions are selected only by `id`, `sequence` or `speaker:system`.
    /// - A count selects only live utterances; criteria alone also select soft-forgotten ones.
    pub fn select<'a>(&self, stored: &[Candidate<'a>]) -> Vec<&'a Arc<Utterance>> {
        let criteria: Vec<_> = self.criteria().iter().map(|criterion| Test::of(criterion, stored)).collect();
        let live_only = self.take().is_some();
        let mut selected: Vec<_> = stored
            .iter()
            .filter(|(_, utterance)| !utterance.instruction || self.names_instructions())
            .filter(|(_, utterance)| !live_only || !utterance.forgotten)
            .filter(|candidate| criteria.iter().all(|test| test.holds(candidate)))
            .map(|(_, utterance)| *utterance)
            .collect();
        match self.take() {
            None => {}
            Some(Take::Oldest(count)) => selected.truncate(count as usize),
            Some(Take::Newest(count)) => {
                selected.drain(..selected.len().saturating_sub(count as usize));
            }
        }
        selected
    }

    /// The sequences it selects that `summary` still covers although they are no longer stored, in window or
    /// archive: `all` selects all of them, `sequence` those in range, and `about` those with a sentence that
    /// contains all its terms.
    pub fn select_remnants(&self, summary: &Summary, archived: &Ranges) -> Ranges {
        let mut remnants = summary.covers();
        remnants.subtract(archived);
        match self.criteria() {
            _ if self.take().is_some() || remnants.is_empty() => Ranges::new(),
            [Criterion::All] => remnants,
            [Criterion::Sequence(numbers)] => remnants.intersection(numbers.sequences()),
            [Criterion::About(texts)] => {
                let topics: Vec<_> = texts.iter().map(|text| terms(text)).collect();
                let sentences = summary.segments().iter().flat_map(|segment| &segment.sentences);
                let left = sentences.filter(|sentence| remnants.contains(sentence.sequence));
                left.filter(|sentence| topics.iter().any(|wanted| holds_all(&sentence.text, wanted)))
                    .map(|sentence| sentence.sequence)
                    .collect()
            }
            _ => Ranges::new(),
        }
    }

    /// Whether it selects any of the imported summaries.
    pub fn selects_imported(&self, summary: &Summary) -> bool {
        let imported = summary.segments().iter().filter(|segment| segment.imported.is_some());
        imported.flat_map(|segment| &segment.sentences).any(|sentence| self.tells_imported(&sentence.text))
    }

    /// Whether it selects this sentence of an imported summary: `all` does, and `about` does if the sentence
    /// contains all its terms.
    pub fn tells_imported(&self, sentence: &str) -> bool {
        match self.criteria() {
            _ if self.take().is_some() => false,
            [Criterion::All] => true,
            [Criterion::About(_)] => self.topics().iter().any(|topic| holds_all(sentence, topic)),
            _ => false,
        }
    }

    /// The terms of each topic it names.
    pub(in crate::domain) fn topics(&self) -> Vec<Terms> {
        let texts = |criterion: &Criterion| match criterion {
            Criterion::About(texts) => texts.clone(),
            _ => Vec::new(),
        };
        self.criteria().iter().flat_map(texts).map(|text| terms(&text)).collect()
    }

    fn names_instructions(&self) -> bool {
        self.criteria().iter().any(|criterion| {
            matches!(criterion, Criterion::Id(_) | Criterion::Sequence(_) | Criterion::Speaker(Role::System))
        })
    }
}

/// A criterion, prepared for many utterances.
enum Test<'a> {
    Plain(&'a Criterion),
    Turns(BTreeSet<u32>),
    About(Vec<Terms>),
}

impl<'a> Test<'a> {
    fn of(criterion: &'a Criterion, stored: &[Candidate<'_>]) -> Self {
        let turns = || stored.iter().map(|(_, utterance)| utterance.turn).filter(|turn| *turn > 0);
        match criterion {
            Criterion::FirstTurns(count) => {
                let turns: BTreeSet<_> = turns().collect();
                Self::Turns(turns.into_iter().take(*count as usize).collect())
            }
            Criterion::LastTurns(count) => {
                let turns: BTreeSet<_> = turns().collect();
                Self::Turns(turns.into_iter().rev().take(*count as usize).collect())
            }
            Criterion::About(texts) => Self::About(texts.iter().map(|text| terms(text)).collect()),
            criterion => Self::Plain(criterion),
        }
    }

    fn holds(&self, &(position, utterance): &Candidate<'_>) -> bool {
        let criterion = match self {
            Self::Turns(turns) => return turns.contains(&utterance.turn),
            Self::About(topics) => {
                return topics.iter().any(|wanted| holds_all(&utterance.content, wanted));
            }
            Self::Plain(criterion) => criterion,
        };
        match criterion {
            Criterion::All => true,
            Criterion::Id(id) => utterance.id_text() == *id,
            Criterion::Sequence(numbers) => numbers.contains(utterance.sequence.get()),
            Criterion::Position(numbers) => position.is_some_and(|position| numbers.contains(position)),
            Criterion::Speaker(role) => utterance.role == *role,
            Criterion::Name(name) => {
                utterance.name().is_some_and(|own| own == name || own.to_lowercase() == name.to_lowercase())
            }
            Criterion::Turn(numbers) => numbers.contains(utterance.turn),
            Criterion::AfterTurn(turn) => utterance.turn > *turn,
            Criterion::BeforeTurn(turn) => utterance.turn < *turn,
            Criterion::Since(time) => utterance.create_time >= *time,
            Criterion::Before(time) => utterance.create_time < *time,
            Criterion::FirstTurns(_) | Criterion::LastTurns(_) | Criterion::About(_) => false,
        }
    }
}
