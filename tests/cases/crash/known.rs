//! What a caller knows about a conversation from the responses that it received.

use std::collections::{BTreeMap, BTreeSet};

use utterd::proto::{ForgetMode, NewUtterance, Role, Utterance, UtteranceRef, UtteranceState};

use crate::crash::request::{Facts, Request};

/// A conversation, as its caller knows it.
#[derive(Clone, Debug, Default)]
pub struct Known {
    /// Its revision; 0 if it does not exist.
    pub revision: i64,
    /// What is stored, by sequence.
    pub stored: BTreeMap<i64, Said>,
    /// The sequences that left the window and were not hard-forgotten since.
    pub left: BTreeSet<i64>,
    /// The tool calls that can still be answered.
    pub open: Vec<String>,
}

/// A stored utterance.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Said {
    /// The caller's id.
    pub id: String,
    /// The role.
    pub role: Role,
    /// The text.
    pub content: String,
    /// The call that it answers.
    pub answers: String,
    /// The ids of its calls.
    pub calls: Vec<String>,
    /// Its token count.
    pub tokens: i32,
    /// Whether it is in the window; otherwise it is in the archive.
    pub in_window: bool,
    /// Whether it is soft-forgotten.
    pub forgotten: bool,
}

impl Known {
    /// Whether the conversation exists.
    pub fn exists(&self) -> bool {
        self.revision > 0
    }

    /// Applies the result of `request`.
    pub fn apply(&mut self, request: &Request, facts: &Facts) -> Result<(), String> {
        match request {
            Request::Create(_) => {}
            Request::Delete(_) => *self = Self::default(),
            Request::Memorize(request) => self.memorized(&request.utterances, &facts.memorized)?,
            Request::Restore(_) => self.mark(&facts.restored, false)?,
            Request::Forget(request) => match request.mode() {
                ForgetMode::Hard => self.erased(&facts.forgotten)?,
                _ => self.mark(&facts.forgotten, true)?,
            },
        }
        self.evicted(&facts.evicted)?;
        if let Some(capacity) = &facts.capacity {
            self.dropped(capacity.archived_utterance_count.unwrap_or(0) as usize)?;
        }
        self.revision = facts.revision;
        Ok(())
    }

    fn memorized(&mut self, utterances: &[NewUtterance], refs: &[UtteranceRef]) -> Result<(), String> {
        if utterances.len() != refs.len() {
            return Err(format!("{} utterances were sent and {refs:?} stored", utterances.len()));
        }
        for (new, stored) in utterances.iter().zip(refs) {
            let said = Said::new(new, stored.token_count());
            self.follow_calls(&said);
            if let Some(other) = self.stored.insert(stored.sequence, said) {
                return Err(format!(
                    "{} and {} have the sequence {}",
                    other.id, new.utterance_id, stored.sequence
                ));
            }
        }
        Ok(())
    }

    fn follow_calls(&mut self, said: &Said) {
        if said.role == Role::User {
            self.open.clear();
        }
        self.open.retain(|call| *call != said.answers);
        self.open.extend(said.calls.iter().cloned());
    }

    fn mark(&mut self, refs: &[UtteranceRef], forgotten: bool) -> Result<(), String> {
        for at in refs {
            self.stored_at(at.sequence)?.forgotten = forgotten;
        }
        Ok(())
    }

    fn erased(&mut self, refs: &[UtteranceRef]) -> Result<(), String> {
        for at in refs {
            self.stored_at(at.sequence)?;
            self.stored.remove(&at.sequence);
            self.left.remove(&at.sequence);
        }
        Ok(())
    }

    fn evicted(&mut self, refs: &[UtteranceRef]) -> Result<(), String> {
        for at in refs {
            self.stored_at(at.sequence)?.in_window = false;
            self.left.insert(at.sequence);
        }
        Ok(())
    }

    /// The archive drops its oldest until it holds `kept`.
    fn dropped(&mut self, kept: usize) -> Result<(), String> {
        let archived = self.stored.iter().filter(|(_, said)| !said.in_window);
        let archived: Vec<i64> = archived.map(|(sequence, _)| *sequence).collect();
        let Some(count) = archived.len().checked_sub(kept) else {
            return Err(format!("the archive holds {kept} and must hold {archived:?}"));
        };
        archived.iter().take(count).for_each(|sequence| drop(self.stored.remove(sequence)));
        Ok(())
    }

    fn stored_at(&mut self, sequence: i64) -> Result<&mut Said, String> {
        self.stored
            .get_mut(&sequence)
            .ok_or_else(|| format!("a response speaks of {sequence}, which is not stored"))
    }
}

impl Said {
    /// An utterance as the server shows it.
    pub fn shown(said: &Utterance) -> Self {
        Self {
            id: said.utterance_id.clone(),
            role: said.role(),
            content: said.content.clone(),
            answers: said.tool_call_id.clone(),
            calls: said.tool_calls.iter().map(|call| call.id.clone()).collect(),
            tokens: said.token_count(),
            in_window: said.position.is_some(),
            forgotten: said.state() == UtteranceState::Forgotten,
        }
    }

    fn new(new: &NewUtterance, tokens: i32) -> Self {
        Self {
            id: new.utterance_id.clone(),
            role: new.role(),
            content: new.content.clone(),
            answers: new.tool_call_id.clone(),
            calls: new.tool_calls.iter().map(|call| call.id.clone()).collect(),
            tokens,
            in_window: true,
            forgotten: false,
        }
    }
}
