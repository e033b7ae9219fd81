//! Which utterances an instruction selects, and what forgetting does to them.

use std::collections::BTreeSet;

use utterd::domain::{
    Role, Sequence,
    forget::{How, Selector},
};

use super::{Conversation, Facts, Home, Reason, Said};
use crate::drafts::is_mark;

/// The meaning of an instruction: all criteria together, and a count from one end.
#[derive(Clone, Debug, PartialEq)]
pub struct Selection {
    pub criteria: Vec<Criterion>,
    pub take: Option<Take>,
    /// The instruction, unless it is given as a selector.
    pub words: String,
    /// Whether that is plain English.
    pub english: bool,
}

/// One condition. Ranges include both ends.
#[derive(Clone, Debug, PartialEq)]
pub enum Criterion {
    All,
    Id(String),
    Sequence(u64, u64),
    Position(u32, u32),
    Speaker(Role),
    Name(String),
    Turn(u32, u32),
    FirstTurns(usize),
    LastTurns(usize),
    Before(u32),
    After(u32),
    About(String),
    Named(Selector),
}

#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Take {
    Oldest(usize),
    Newest(usize),
}

impl Conversation {
    /// What `selection` selects: from the window for a bare count or a position, otherwise from everything
    /// stored. Head instructions are only selected by id, sequence or `speaker:system`; a count skips what is
    /// forgotten.
    fn selected(&self, selection: &Selection) -> Vec<u64> {
        let criteria = &selection.criteria;
        let in_window =
            criteria.is_empty() || criteria.iter().any(|one| matches!(one, Criterion::Position(..)));
        let by_name = |criterion: &Criterion| {
            use Criterion::{Id, Named, Sequence, Speaker};
            matches!(criterion, Id(_) | Sequence(..) | Speaker(Role::System) | Named(_))
        };
        let names_instructions = criteria.iter().any(by_name);
        let mut found = self.sequences(|said| said.home == Home::Window || said.is_stored() && !in_window);
        found.retain(|sequence| names_instructions || !self.is_instruction(*sequence));
        found.retain(|sequence| selection.take.is_none() || !self.get(*sequence).forgotten);
        found.retain(|sequence| criteria.iter().all(|criterion| self.meets(*sequence, criterion)));
        match selection.take {
            None => found,
            Some(Take::Oldest(count)) => found.into_iter().take(count).collect(),
            Some(Take::Newest(count)) => found.split_off(found.len().saturating_sub(count)),
        }
    }

    fn meets(&self, sequence: u64, criterion: &Criterion) -> bool {
        let said = self.get(sequence);
        let turns = || -> BTreeSet<u32> {
            let stored = self.said.iter().filter(|said| said.is_stored() && said.turn > 0);
            stored.map(|said| said.turn).collect()
        };
        match criterion {
            Criterion::All => true,
            Criterion::Id(id) => said.id == *id,
            Criterion::Sequence(first, last) => (*first..=*last).contains(&sequence),
            Criterion::Position(first, last) => {
                self.position(sequence).is_some_and(|position| (*first..=*last).contains(&position))
            }
            Criterion::Speaker(role) => said.role() == *role,
            Criterion::Name(name) => {
                said.what.name().is_some_and(|own| own.to_lowercase() == name.to_lowercase())
            }
            Criterion::Turn(first, last) => (*first..=*last).contains(&said.turn),
            Criterion::FirstTurns(count) => turns().iter().take(*count).any(|turn| *turn == said.turn),
            Criterion::LastTurns(count) => turns().iter().rev().take(*count).any(|turn| *turn == said.turn),
            Criterion::Before(turn) => said.turn < *turn,
            Criterion::After(turn) => said.turn > *turn,
            Criterion::About(word) => holds_word(&said.what.content, word),
            Criterion::Named(selector) => {
                let recent = self.sequences(|said| said.is_stored() && !said.forgotten);
                let newest = recent.iter().rev().take(selector.newest_messages);
                selector.ids.iter().any(|id| **id == *said.id)
                    || selector.sequences.contains(Sequence(sequence))
                    || newest.into_iter().any(|newest| *newest == sequence)
            }
        }
    }

    /// What the summary covers although it is no longer stored, as far as `all`, a sequence or a word of its
    /// sentences selects it: a hard forget removes it.
    fn remnants(&self, selection: &Selection) -> Vec<u64> {
        let told = |word: &str, mark: &str| {
            let tells = |line: &str| holds_word(line, word) && holds_word(line, mark);
            is_mark(mark) && self.summary.lines().any(tells)
        };
        let wanted = |sequence: u64| match (&*selection.criteria, selection.take) {
            ([Criterion::All], None) => true,
            ([Criterion::Sequence(first, last)], None) => (*first..=*last).contains(&sequence),
            ([Criterion::Named(selector)], None) => selector.sequences.contains(Sequence(sequence)),
            ([Criterion::About(word)], None) => told(word, self.get(sequence).mark()),
            _ => false,
        };
        let covered = self.covered.iter().copied().filter(|sequence| !self.get(*sequence).is_stored());
        covered.filter(|sequence| wanted(*sequence)).collect()
    }

    /// Whether these, in whole units of the `wanted`, are several and more than half of the window.
    fn is_most(&self, sequences: &[u64], wanted: impl Fn(&Said) -> bool) -> bool {
        let units: BTreeSet<u64> =
            sequences.iter().map(|sequence| self.pairing().units[*sequence as usize - 1]).collect();
        let window = self.sequences(|said| said.home == Home::Window && wanted(said));
        let meant = window.iter().filter(|sequence| sequences.contains(sequence)).count();
        units.len() > 1 && meant > window.len() - meant
    }

    /// Forgets the whole units of what is selected. An open exchange among them is abandoned. A plain English
    /// instruction is refused if it selects most of the window.
    pub fn forget(&mut self, selection: &Selection, how: How) -> Result<Facts, Reason> {
        let (hard, exact) = (how != How::Soft, how == How::Exact);
        let wanted = |said: &Said| said.is_stored() && (hard || !said.forgotten);
        let mut selected = self.selected(selection);
        selected.retain(|sequence| wanted(self.get(*sequence)));
        let gone = if exact { selected.clone() } else { self.whole_units(&selected, wanted) };
        if selection.english && self.is_most(&gone, wanted) {
            return Err("INSTRUCTION_TOO_BROAD");
        }
        let remnants = if hard { self.remnants(selection) } else { Vec::new() };
        let mut facts = Facts { changed: !gone.is_empty() || !remnants.is_empty(), ..Facts::default() };
        self.covered.retain(|sequence| !remnants.contains(sequence));
        remnants.iter().for_each(|sequence| self.get_mut(*sequence).late = None);
        self.uncompact(&remnants);
        if hard {
            facts.gone = [&*gone, &*remnants].concat();
        }
        if exact {
            if facts.changed {
                self.erase_exactly(&selected, &mut facts);
            }
            facts.erased = selected;
            return Ok(facts);
        }
        if hard {
            self.erase(&gone);
            facts.erased = gone;
        } else {
            self.abandon(&gone);
            gone.iter().for_each(|sequence| self.get_mut(*sequence).forgotten = true);
            facts.forgotten = gone;
        }
        Ok(facts)
    }

    /// Removes every trace of `gone`.
    pub fn erase(&mut self, gone: &[u64]) {
        self.abandon(gone);
        for sequence in gone {
            self.get_mut(*sequence).home = Home::Erased;
            self.covered.remove(sequence);
        }
        self.uncompact(gone);
    }

    /// Abandons the calls in `gone`, and stops awaiting answers to it.
    fn abandon(&mut self, gone: &[u64]) {
        if self.awaits.is_some_and(|awaits| gone.contains(&awaits)) {
            self.awaits = None;
        }
        let pairing = self.pairing();
        let caller = pairing.open.first().map(|(_, caller)| pairing.units[*caller as usize - 1]);
        if caller.is_some_and(|unit| gone.contains(&unit)) {
            self.abandoned.insert(self.said.len());
        }
    }
}

/// Whether `text` contains `word` as a whole word, in any case.
pub fn holds_word(text: &str, word: &str) -> bool {
    let mut words = text.split(|c: char| !c.is_alphanumeric());
    words.any(|one| one.to_lowercase() == word.to_lowercase())
}
