//! What reads must return, and how the server's states are compared with this world.

use std::collections::{BTreeMap, BTreeSet};

use utterd::{
    domain::{self, Ranges, Sequence, Utterance, capacity::Capacity},
    engine::Filter,
};

use super::{Conversation, Facts, Home, Said, conversation::Pairing, editing::is_same, policy::Policy};
use crate::drafts::is_mark;

/// Sequences as ranges.
pub fn ranges(sequences: &[u64]) -> Ranges {
    sequences.iter().copied().map(Sequence).collect()
}

/// An error that shows both, unless they are equal.
fn same<T: PartialEq + std::fmt::Debug>(what: &str, got: &T, expected: &T) -> Result<(), String> {
    if got == expected { Ok(()) } else { Err(format!("{what} is {got:?}; must be {expected:?}")) }
}

impl Conversation {
    /// An error unless a stored state is this conversation.
    pub fn compare(&self, state: &domain::Conversation) -> Result<(), String> {
        let (head, pairing) = (&state.head, self.pairing());
        same("the revision", &head.revision.get(), &self.revision)?;
        same("the recipient", &head.identity.recipient.as_str(), &&*self.recipient)?;
        let times =
            |start: i64, update: i64, said: i64| [("start", start), ("update", update), ("said", said)];
        let (shown, own) = (
            times(head.identity.start_time.0, head.update_time.0, head.said_time.0),
            times(self.start, self.update, self.said_at),
        );
        same("the times", &shown, &own)?;
        let window: Vec<u64> = state.window.iter().map(|one| one.sequence.get()).collect();
        same("the window", &window, &self.window())?;
        same("the archive", &*head.archived, &ranges(&self.archive()))?;
        state.window.iter().try_for_each(|one| self.compare_one(one, &pairing))?;
        let pinned_away = self.sequences(|said| said.home == Home::Archive && said.pinned);
        same("what is pinned in the archive", &*head.pinned_away, &ranges(&pinned_away))?;
        same("what left", &*head.left, &ranges(&self.sequences(Said::has_left)))?;
        same("the newest turn", &head.turn, &self.turn)?;
        same("the title", &head.title.as_deref().unwrap_or_default(), &&*self.title)?;
        same("the policy", &Policy::from(&head.policy), &self.policy)?;
        same("the capacity", &Capacity::of(state), &self.capacity(&Capacity::of(state)))?;
        let mut open: Vec<String> =
            head.open.iter().flat_map(|open| &open.calls).map(|id| id.to_string()).collect();
        let mut waiting: Vec<String> = pairing.open.iter().map(|(id, _)| id.clone()).collect();
        open.sort();
        waiting.sort();
        same("the open calls", &open, &waiting)?;
        same("whether an answer is awaited", &head.awaits_answer, &self.awaits.is_some())?;
        let ended = head.ended.as_ref().map(|ended| (ended.time.0, ended.reason.to_string()));
        same("the end", &ended, &self.ended)?;
        let from = head.forked_from.as_ref().map(|from| (from.conversation.to_string(), from.sequence.get()));
        same("what it was forked from", &from, &self.forked_from)?;
        let values: Vec<_> = head.state.iter().map(|entry| (&*entry.name, entry.version.get())).collect();
        let kept: Vec<_> = self.state.iter().map(|(name, (version, _))| (&**name, *version)).collect();
        same("the values", &values, &kept)?;
        self.compare_summary(state)?;
        self.compare_compactions(state)
    }

    /// Each that left is covered once, the summary keeps its limit, and tells of nothing that it must not.
    fn compare_summary(&self, state: &domain::Conversation) -> Result<(), String> {
        let summary = &state.summary;
        let covers = summary.segments().iter().map(|segment| segment.covers.count()).sum::<u64>();
        same("what segments cover, together", &covers, &(self.covered.len() as u64))?;
        let covered: Vec<u64> = self.covered.iter().copied().collect();
        same("what segments cover", &summary.covers(), &ranges(&covered))?;
        if self.policy.summary_limit.is_some_and(|limit| summary.tokens() > limit) {
            return Err(format!(
                "the summary has {} tokens, of {:?}",
                summary.tokens(),
                self.policy.summary_limit
            ));
        }
        let mut texts = format!("{:?} {:?}", summary, state.compactions);
        // the title and the closing are made of what is stored, and not forgotten
        let closing = format!("{:?} {:?}", state.head.made_title, state.head.ended);
        texts += &closing;
        self.tells_none(&texts, |said| said.home == Home::Erased)?;
        let shown = format!("{} {closing}", summary.text());
        self.tells_none(&shown, |said| said.forgotten || said.home == Home::Erased)
    }

    /// An error if a text holds the mark of one of these utterances, or what was said before it was edited.
    fn tells_none(&self, text: &str, silent: impl Fn(&Said) -> bool) -> Result<(), String> {
        let marks = self.said.iter().filter(|said| silent(said)).map(Said::mark);
        // the arguments of its calls still have its first mark
        let edited = self.said.iter().filter(|said| said.what.tool_calls().is_empty());
        let before = edited.filter_map(|said| said.original.as_deref()?.split(' ').next());
        let told: Vec<_> = marks.chain(before).filter(|mark| is_mark(mark) && text.contains(mark)).collect();
        if told.is_empty() { Ok(()) } else { Err(format!("{told:?} are told: {text}")) }
    }

    fn compare_compactions(&self, state: &domain::Conversation) -> Result<(), String> {
        let listed = state.compactions.iter();
        let shown: Vec<_> =
            listed.map(|one| (one.number, one.compacted.clone(), one.undone.is_some())).collect();
        let own = self.compactions.iter().map(|one| (one.number, ranges(&one.compacted), one.is_undone));
        let own: Vec<_> = own.skip(self.compactions.len().saturating_sub(shown.len())).collect();
        same("the compactions", &shown, &own)?;
        let can: Vec<_> =
            state.compactions.iter().filter(|one| one.is_undoable()).map(|one| one.number).collect();
        let own = self.compactions.iter().filter(|one| one.is_undoable).map(|one| one.number);
        same("the compactions to undo", &can, &own.collect())
    }

    /// An error unless a change of what was `before` says the words that were said, and sets and deletes the values
    /// that were set and deleted.
    pub fn compare_words(&self, change: &domain::Change, before: Option<&Self>) -> Result<(), String> {
        // of an utterance that is written twice, the later one stays
        let written = change.appended.iter().chain(&change.rewritten).map(|one| (one.sequence, one));
        for (sequence, one) in written.collect::<BTreeMap<_, _>>() {
            let what = &self.get(sequence.get()).what;
            same("the words", &(one.role, &one.content), &(what.role, &what.content))?;
        }
        let set = change.state_set.iter();
        let set = set.map(|value| (value.name.to_string(), (value.version.get(), value.content.clone())));
        let own = self.state.iter().filter(|(_, (version, _))| *version == self.revision);
        let own = own.map(|(name, value)| (name.clone(), value.clone()));
        same("what is set", &set.collect::<BTreeMap<_, _>>(), &own.collect())?;
        let deleted: BTreeSet<_> = change.state_deleted.iter().map(|name| name.to_string()).collect();
        let had = before.into_iter().flat_map(|before| before.state.keys());
        let own = had.filter(|name| !self.state.contains_key(*name)).cloned();
        same("what is deleted", &deleted, &own.collect())
    }

    /// An error unless an utterance is the one with its sequence.
    pub fn compare_one(&self, utterance: &Utterance, pairing: &Pairing) -> Result<(), String> {
        let sequence = utterance.sequence.get();
        let Some(said) = self.said.get(sequence as usize - 1).filter(|said| said.is_stored()) else {
            return Err(format!("{sequence} is stored, and must not be"));
        };
        let mut more = utterance.more.as_deref().cloned().unwrap_or_default();
        let (late, original) = (more.late.take(), more.original.take());
        let told = domain::Draft {
            role: utterance.role,
            content: utterance.content.clone(),
            more: Some(Box::new(more)),
            ..said.what.clone()
        };
        if !is_same(&told, &said.what) {
            return Err(format!("{sequence} says {told:?}; must say {:?}", said.what));
        }
        let shown = (
            (utterance.id_text(), utterance.create_time.0, utterance.turn, utterance.tokens),
            (utterance.pinned, utterance.forgotten, utterance.instruction, utterance.aside),
            (late.is_some(), late.map(|late| late.tool.to_string()).unwrap_or_default()),
            original.map(|original| original.content),
        );
        let own = (
            (said.id.clone(), said.time, said.turn, said.tokens),
            (said.pinned, said.forgotten, said.instruction, pairing.aside[sequence as usize - 1]),
            (said.late.is_some(), said.late.map(|_| said.late_tool.clone()).unwrap_or_default()),
            said.original.clone(),
        );
        same(&format!("{sequence}"), &shown, &own)
    }

    /// The position in the window, from 1.
    pub fn position(&self, sequence: u64) -> Option<u32> {
        let place = self.window().iter().position(|member| *member == sequence)?;
        Some(place as u32 + 1)
    }

    /// What a list of everything stored has, with or without what is forgotten.
    pub fn listed(&self, forgotten: bool) -> Vec<u64> {
        self.sequences(|said| said.is_stored() && (forgotten || !said.forgotten))
    }

    /// What Remember can find with this filter and a word.
    pub fn findable(&self, filter: &Filter, word: &str, window_only: bool) -> Vec<u64> {
        let mut found = self.sequences(|said| {
            let metadata = |key: &String| said.what.more.as_ref().and_then(|more| more.metadata.get(key));
            said.is_stored()
                && !said.forgotten
                && (said.home == Home::Window || !window_only)
                && (word.is_empty() || super::forgetting::holds_word(&said.what.content, word))
                && (filter.roles.is_empty() || filter.roles.contains(&said.role()))
                && filter.min_turn.is_none_or(|turn| said.turn >= turn)
                && filter.max_turn.is_none_or(|turn| said.turn <= turn)
                && filter.pinned.is_none_or(|pinned| said.pinned == pinned)
                && filter.metadata.iter().all(|(key, value)| metadata(key) == Some(value))
        });
        found.retain(|sequence| filter.min_sequence.is_none_or(|first| *sequence >= first.get()));
        found.retain(|sequence| filter.max_sequence.is_none_or(|last| *sequence <= last.get()));
        found
    }
}

impl Said {
    fn has_left(&self) -> bool {
        matches!(self.home, Home::Archive | Home::Dropped)
    }
}

impl Facts {
    /// An error unless a change did this.
    pub fn compare(&self, change: &domain::Change) -> Result<(), String> {
        let of = |utterances: &[std::sync::Arc<Utterance>]| -> Ranges {
            utterances.iter().map(|one| one.sequence).collect()
        };
        let all = [
            ("memorized", &of(&change.appended), &self.memorized),
            ("evicted", &of(&change.evicted), &self.evicted),
            ("returned", &of(&change.returned), &self.returned),
            ("dropped", &change.dropped, &self.dropped),
            ("forgotten", &change.forgotten, &self.forgotten),
            ("restored", &change.restored, &self.restored),
            ("erased", &change.erased, &self.erased),
            ("updated", &change.updated, &self.updated),
        ];
        all.into_iter().try_for_each(|(what, got, own)| same(what, got, &ranges(own)))?;
        let parent = change.inherits.as_ref().map(|parent| parent.id.to_string());
        same("the parent", &parent, &self.parent)?;
        same("the revision before", &change.before.get(), &(self.revision - 1))?;
        same("the compaction", &change.compaction, &self.compaction)
    }
}
