//! What a phrase has selected so far.

use crate::{
    Role,
    forgetting::{AskedPart, Criterion, InstructionError, Result, Take, time::Stretch},
};

/// The reason to refuse a phrase that could mean everything but is not one of the phrases reserved for it.
pub(super) const NARROWER: &str = "say by whom, where or about what; or say everything for all of it";
const COUNT_OF_SEVERAL: &str = "a count of several speakers together; send an instruction for each";
const TWO_LISTS: &str = "only one list at a time; send an instruction for each";

/// The filters and the count of one phrase. An utterance must pass all of them.
#[derive(Clone, Debug, Default)]
pub(super) struct Selection {
    criteria: Vec<Criterion>,
    /// Lists of criteria, of which one must be met; none if empty.
    any_of: Vec<Vec<Criterion>>,
    /// Counts, any of which selects; none if empty.
    takes: Vec<Take>,
    /// Which of the taken utterances to leave out again.
    but: Option<Take>,
    stretch: Option<Stretch>,
    /// The phrase narrows the selection in a way that no single criterion expresses.
    narrowed: bool,
    /// The phrase speaks of one utterance, without saying which.
    one: bool,
}

impl Selection {
    /// A selection with one criterion.
    pub fn of(criterion: Criterion) -> Self {
        Self { criteria: vec![criterion], ..Self::default() }
    }

    /// Whether it selects everything stored.
    pub fn is_all(&self) -> bool {
        self.criteria.contains(&Criterion::All)
    }

    /// Adds several criteria.
    pub fn add_all(&mut self, criteria: impl IntoIterator<Item = Criterion>) {
        criteria.into_iter().for_each(|criterion| self.add(criterion));
    }

    /// Adds a criterion; repetitions are allowed. A text to look for is added to the words of an earlier one.
    pub fn add(&mut self, criterion: Criterion) {
        let texts = self.criteria.iter_mut().find_map(|own| match own {
            Criterion::About(texts) => Some(texts),
            _ => None,
        });
        if let (Some([text]), Criterion::About(more)) = (texts.map(Vec::as_mut_slice), &criterion)
            && let [more] = &**more
        {
            *text = format!("{text} {more}");
        } else if !self.criteria.contains(&criterion) {
            self.criteria.push(criterion);
        }
    }

    /// Adds lists of criteria, one of which must be met.
    ///
    /// # Errors
    /// Several lists, if there were several before: the reason to refuse that.
    pub fn add_any_of(&mut self, mut lists: Vec<Vec<Criterion>>) -> Result<(), &'static str> {
        match lists.len() {
            1 => self.add_all(lists.remove(0)),
            _ if self.any_of.is_empty() => self.any_of = lists,
            _ => return Err(TWO_LISTS),
        }
        Ok(())
    }

    /// Adds a time; returns whether it is compatible with the time given before.
    pub fn add_time(&mut self, stretch: Stretch) -> bool {
        let both = match self.stretch {
            Some(before) => before.and(stretch),
            None => Some(stretch),
        };
        self.stretch = both.or(self.stretch);
        both.is_some()
    }

    /// Adds a count from one end, or numbers.
    pub fn take(&mut self, take: Take) {
        self.takes.push(take);
    }

    /// Leaves out some of the taken utterances again.
    pub fn but(&mut self, take: Take) {
        self.but = Some(take);
    }

    /// Marks the selection as no longer everything.
    pub fn narrow(&mut self) {
        self.narrowed = true;
    }

    /// Marks the selection as one utterance.
    pub fn mean_one(&mut self) {
        self.one = true;
    }

    /// Whether the phrase speaks of one utterance, without saying which.
    pub fn means_one(&self) -> bool {
        self.one
    }

    /// Whether it has no filter.
    pub fn is_bare(&self) -> bool {
        self.criteria.is_empty() && self.any_of.is_empty() && self.stretch.is_none()
    }

    /// Whether the phrase has no filter at all, so that everything would be meant.
    pub fn is_everything(&self) -> bool {
        self.is_bare() && self.takes.is_empty() && !self.narrowed
    }

    /// Whether it can only be one utterance.
    pub fn is_single(&self) -> bool {
        self.criteria.iter().any(|criterion| match criterion {
            Criterion::Id(_) => true,
            Criterion::Position(numbers) | Criterion::Sequence(numbers) => numbers.single().is_some(),
            _ => false,
        })
    }

    /// Whether it is limited to utterances before some point.
    pub fn ends_before(&self) -> bool {
        let turn = self.criteria.iter().any(|criterion| matches!(criterion, Criterion::BeforeTurn(_)));
        turn || self.stretch.is_some_and(|stretch| stretch.since.is_none())
    }

    /// Whether a turn is the only filter.
    pub fn is_one_turn(&self) -> bool {
        let turn = matches!(&*self.criteria, [Criterion::Turn(turns)] if turns.single().is_some());
        turn && self.any_of.is_empty() && self.stretch.is_none()
    }

    /// Whether somebody is named as the speaker, or the phrase says that it was said.
    pub fn is_spoken(&self) -> bool {
        self.narrowed || self.speakers() > 0
    }

    /// Limits it to tools if it names one; returns whether all of it is from tools.
    pub fn is_of_tools(&mut self) -> bool {
        if self.criteria.iter().any(|criterion| matches!(criterion, Criterion::Name(_))) {
            self.add(Criterion::Speaker(Role::Tool));
        }
        self.criteria.contains(&Criterion::Speaker(Role::Tool))
    }

    /// Whether it counts.
    pub fn counts(&self) -> bool {
        !self.takes.is_empty()
    }

    /// Whether a filter after one of these two phrases, joined by "and", could be meant for both.
    pub fn shares_filters_with(&self, other: &Self) -> bool {
        self.kinds() != other.kinds() && (self.has_filters() || other.has_filters())
    }

    /// Adds the filters of `base`, of which this is a part.
    pub fn among(&mut self, base: &Self) -> Result<(), &'static str> {
        self.add_all(base.criteria.iter().filter(|own| **own != Criterion::All).cloned());
        if !base.any_of.is_empty() {
            self.add_any_of(base.any_of.clone())?;
        }
        self.stretch = self.stretch.or(base.stretch);
        Ok(())
    }

    /// The parts of an instruction: what is selected, and what is left out again.
    pub fn parts(self, text: &str) -> Result<(Vec<AskedPart>, Vec<AskedPart>)> {
        let stretch = self.stretch.unwrap_or_default();
        let alone = vec![Vec::new()];
        let any_of = if self.any_of.is_empty() { &alone } else { &self.any_of };
        let part = |list: &Vec<Criterion>, take: Option<&Take>| {
            let criteria = self.criteria.iter().chain(list).cloned().collect();
            AskedPart { criteria, take: take.cloned(), stretch }
        };
        if any_of.len() > 1 && self.counts() {
            return Err(InstructionError::part(text, COUNT_OF_SEVERAL));
        }
        let parts = any_of.iter().flat_map(|list| match self.takes.is_empty() {
            true => vec![part(list, None)],
            false => self.takes.iter().map(|take| part(list, Some(take))).collect(),
        });
        Ok((parts.collect(), self.but.iter().map(|take| part(&alone[0], Some(take))).collect()))
    }

    /// Whether it is limited to a topic.
    pub fn has_topic(&self) -> bool {
        self.criteria.iter().any(|criterion| matches!(criterion, Criterion::About(_)))
    }

    fn speakers(&self) -> usize {
        let is_speaker =
            |criterion: &&Criterion| matches!(criterion, Criterion::Speaker(_) | Criterion::Name(_));
        self.any_of.len() + self.criteria.iter().filter(is_speaker).count()
    }

    fn has_filters(&self) -> bool {
        self.speakers() > 0 || self.has_topic() || self.stretch.is_some() || self.counts() && !self.is_bare()
    }

    /// The kinds of its filters.
    fn kinds(&self) -> [bool; 5] {
        let places =
            self.criteria.len() > self.speakers() - self.any_of.len() + usize::from(self.has_topic());
        [self.speakers() > 0, self.has_topic(), self.stretch.is_some(), self.counts(), places]
    }
}
