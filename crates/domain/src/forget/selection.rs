//! Which utterances an instruction selects.

use std::{
    collections::{BTreeMap, BTreeSet},
    sync::Arc,
};

use crate::{
    Ranges, Role, Sequence, Utterance,
    extract::{Item, Kind, sequences},
    forgetting::{Criterion, Instruction, Part, Take},
    recall::{Terms, holds_all, terms},
    segment::Summary,
};

/// A stored utterance, and its position if it is in the window.
pub type Candidate<'a> = (Option<u32>, &'a Arc<Utterance>);

impl Instruction {
    /// Whether it can select archived utterances: everything except positions and bare counts can.
    pub fn reaches_archive(&self) -> bool {
        self.parts().iter().any(Part::reaches_archive)
    }

    /// Selects from `stored`, which is ascending by sequence, window and archive.
    ///
    /// - Head instructions are selected only by `id`, `sequence` or `speaker:system`.
    /// - A count selects only live utterances; criteria alone also select soft-forgotten ones.
    pub fn select<'a>(&self, stored: &[Candidate<'a>]) -> Selected<'a> {
        let of = |parts: &[Part]| -> BTreeMap<Sequence, &'a Arc<Utterance>> {
            let all = parts.iter().flat_map(|part| part.select(stored));
            all.map(|utterance| (utterance.sequence, utterance)).collect()
        };
        let (mut selected, kept) = (of(self.parts()), of(self.except()));
        selected.retain(|sequence, _| !kept.contains_key(sequence));
        Selected { selected: selected.into_values().collect(), kept: kept.into_values().collect() }
    }

    /// The sequences it selects that are no longer stored in the window or the archive, but still covered by
    /// `summary`: `all` selects all of them, `sequence` those in range, and `about` those of which something
    /// is told that contains all its terms. Empty if an exception cannot be applied to them.
    pub fn select_remnants(&self, summary: &Summary, archived: &Ranges) -> Ranges {
        let mut remnants = summary.covers();
        remnants.subtract(archived);
        let of = |parts: &[Part]| -> Option<Ranges> {
            let mut found = Ranges::new();
            for part in parts {
                found.union(&part.select_remnants(summary, &remnants)?);
            }
            Some(found)
        };
        let Some(kept) = of(self.except()) else { return Ranges::new() };
        let mut selected = Ranges::new();
        let parts = self.parts().iter().filter_map(|part| part.select_remnants(summary, &remnants));
        parts.for_each(|found| selected.union(&found));
        selected.subtract(&kept);
        selected
    }

    /// Whether it selects any of the imported summaries.
    pub fn selects_imported(&self, summary: &Summary) -> bool {
        let imported = summary.segments().iter().filter(|segment| segment.imported.is_some());
        imported.flat_map(|segment| &segment.items).any(|item| self.tells_imported(&item.text))
    }

    /// Whether it selects this sentence of an imported summary: `all` does, and `about` does if the sentence
    /// contains all its terms; but not if an exception selects it, or cannot be applied to it.
    pub fn tells_imported(&self, sentence: &str) -> bool {
        let mut parts = self.parts().iter().map(|part| part.tells_imported(sentence));
        let mut except = self.except().iter().map(|part| part.tells_imported(sentence));
        parts.any(|tells| tells == Some(true)) && except.all(|tells| tells == Some(false))
    }

    /// The terms of each topic it names.
    pub(crate) fn topics(&self) -> Vec<Terms> {
        self.parts().iter().flat_map(Part::topics).collect()
    }
}

/// The utterances that an instruction selects, and those that it excepts; both ascending.
pub struct Selected<'a> {
    pub selected: Vec<&'a Arc<Utterance>>,
    pub kept: Vec<&'a Arc<Utterance>>,
}

impl Part {
    fn reaches_archive(&self) -> bool {
        let in_window = |criterion: &Criterion| matches!(criterion, Criterion::Position(_));
        !self.criteria().is_empty() && !self.criteria().iter().any(in_window)
    }

    fn select<'a>(&self, stored: &[Candidate<'a>]) -> Vec<&'a Arc<Utterance>> {
        let tests: Vec<_> = self.criteria().iter().map(|criterion| Test::of(criterion, stored)).collect();
        let (live_only, reaches_archive) = (self.take().is_some(), self.reaches_archive());
        let mut selected: Vec<_> = stored
            .iter()
            .filter(|(position, _)| reaches_archive || position.is_some())
            .filter(|(_, utterance)| !utterance.instruction || self.names_instructions())
            .filter(|(_, utterance)| !live_only || !utterance.forgotten)
            .filter(|candidate| tests.iter().all(|test| test.holds(candidate)))
            .map(|(_, utterance)| *utterance)
            .collect();
        match self.take() {
            None => {}
            Some(Take::Oldest(count)) => selected.truncate(*count as usize),
            Some(Take::Newest(count)) => {
                selected.drain(..selected.len().saturating_sub(*count as usize));
            }
            Some(Take::Nth(numbers)) => {
                let mut number = 0_u64;
                selected.retain(|_| {
                    number += 1;
                    numbers.contains(number)
                });
            }
        }
        selected
    }

    /// The `remnants` it selects; `None` if it cannot be applied to utterances that are no longer stored.
    fn select_remnants(&self, summary: &Summary, remnants: &Ranges) -> Option<Ranges> {
        match self.criteria() {
            _ if self.take().is_some() || remnants.is_empty() => Some(Ranges::new()),
            [Criterion::All] => Some(remnants.clone()),
            [Criterion::Sequence(numbers)] => Some(remnants.intersection(numbers.sequences())),
            [Criterion::Position(_)] => Some(Ranges::new()),
            [Criterion::About(_)] => {
                let topics = self.topics();
                let tells = |text: &str| topics.iter().any(|wanted| holds_all(text, wanted));
                let told_by = |item: &Item| -> Ranges {
                    let own = format!("{} {}", item.head, item.text);
                    match item.kind {
                        // what an answer says itself, its question does not say
                        Kind::Said if tells(&own) => [Sequence(item.sequence)].into_iter().collect(),
                        _ if tells(&format!("{own} {}", item.note)) => sequences(item).collect(),
                        _ => Ranges::new(),
                    }
                };
                let items = summary.segments().iter().flat_map(|segment| &segment.items);
                let mut told = Ranges::new();
                items.for_each(|item| told.union(&told_by(item)));
                Some(told.intersection(remnants))
            }
            _ => None,
        }
    }

    /// Whether it selects this sentence of an imported summary; `None` if it cannot be applied to a sentence.
    fn tells_imported(&self, sentence: &str) -> Option<bool> {
        match self.criteria() {
            _ if self.take().is_some() => Some(false),
            [Criterion::All] => Some(true),
            [Criterion::Position(_) | Criterion::Sequence(_)] => Some(false),
            [Criterion::About(_)] => Some(self.topics().iter().any(|topic| holds_all(sentence, topic))),
            _ => None,
        }
    }

    fn topics(&self) -> Vec<Terms> {
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
