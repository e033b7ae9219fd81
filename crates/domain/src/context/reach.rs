//! How far into the archive a context reaches.

use std::sync::Arc;

use crate::{
    Conversation, Utterance,
    context::{Request, build::turn_goes_on},
};

/// An utterance counts as at most this part of the budget: what is longer is cut if others need the room.
const LONG: u64 = 2;

/// The archived utterances that a context has room for: of the turn in progress, or of every turn.
#[derive(Debug)]
pub struct Reach {
    first_turn: u32,
    budget: u64,
    /// What the utterances that were gone over leave of the budget.
    left: Option<u64>,
    /// Whether they begin before the first turn.
    is_past: bool,
}

impl Reach {
    /// None if the context shows nothing of the archive, or its budget is unlimited.
    pub fn of(conversation: &Conversation, request: &Request) -> Option<Self> {
        let first_turn = match request.include_archive {
            true => 0,
            false => turn_goes_on(conversation).filter(|turn| *turn == conversation.head.turn)?,
        };
        let budget = request.budget.or_else(|| Request::default_budget(conversation))?.into();
        let reach = Self { first_turn, budget, left: Some(budget), is_past: false };
        Some(Self { left: reach.beyond(conversation.window.iter()), ..reach })
    }

    /// Whether older utterances have room.
    pub fn goes_on(&self) -> bool {
        self.left.is_some() && !self.is_past
    }

    /// Goes over archived utterances, ascending, that precede those before.
    pub fn go_over(&mut self, older: &[Arc<Utterance>]) {
        self.left = self.beyond(older.iter());
        self.is_past = older.first().is_some_and(|first| first.turn < self.first_turn);
    }

    /// Leaves the whole units of what was gone over, which is all that is archived or not.
    pub fn trim(&self, utterances: &mut Vec<Arc<Utterance>>, is_all: bool) {
        let begins =
            |said: &Arc<Utterance>| said.turn >= self.first_turn && (is_all || said.unit == said.sequence);
        let first = utterances.iter().position(begins).unwrap_or(utterances.len());
        utterances.drain(..first);
    }

    fn beyond<'u>(&self, mut said: impl DoubleEndedIterator<Item = &'u Arc<Utterance>>) -> Option<u64> {
        let most = self.budget / LONG;
        said.try_rfold(self.left?, |left, one| left.checked_sub(u64::from(one.counted_tokens()).min(most)))
    }
}
