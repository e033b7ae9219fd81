//! A recipient's own state, changed in the same commit as one of the recipient's conversations.

use std::sync::Arc;

use crate::{
    Address, Engine, Operation, Result,
    applied::Decided,
    lane::{commit::Part, hold::Hold, queued::WriteCall},
};
use utterd_domain::{ChangeId, Conversation, ConversationId, Identity, change::Context, state::update_state};

/// The own state of a conversation's recipient, held as soon as a write changes it.
///
/// It is always taken after the conversations, so no two tasks wait for each other's holds.
#[derive(Default)]
pub struct RecipientStateWrite(Option<Held>);

struct Held {
    hold: Hold,
    part: Part,
    /// The state after the changes so far.
    state: Arc<Conversation>,
}

impl RecipientStateWrite {
    /// Decides the write's change to the state, if any, on the result of the writes before it.
    pub async fn decide(
        &mut self,
        engine: &Arc<Engine>,
        call: &WriteCall,
        conversation: &Identity,
        commit: ChangeId,
    ) -> Result<Option<Decided>> {
        let Some(update) = call.recipient_state.clone() else { return Ok(None) };
        if self.0.is_none() {
            self.0 = Some(Held::of(engine, call, conversation).await?);
        }
        let Some(held) = &self.0 else { return Ok(None) };
        let rule = move |before: &Conversation, context: &Context<'_>| {
            let updated = update_state(before, &update, context);
            Ok(updated.map_err(|refusal| refusal.within("recipient_state."))?)
        };
        Ok(Some(Decided::of(engine.rehearse(&held.state, rule).await?, commit)))
    }

    /// Adds a decided change to the commit.
    pub fn add(&mut self, decided: Option<&Decided>, call: &WriteCall) {
        if let (Some(held), Some(decided)) = (&mut self.0, decided) {
            held.state = decided.after.clone();
            held.part.add(decided, Operation::UpdateState, call.attempt.as_ref());
        }
    }

    /// Whether there is nothing to commit.
    pub fn is_empty(&self) -> bool {
        self.0.as_ref().is_none_or(|held| held.part.changes().is_empty())
    }

    /// Returns the part to commit, and the hold to keep until it is committed.
    pub fn done(self) -> (Option<Part>, Option<Hold>) {
        self.0.map(|held| (held.part, held.hold)).unzip()
    }
}

impl Held {
    async fn of(engine: &Arc<Engine>, call: &WriteCall, conversation: &Identity) -> Result<Self> {
        let address = Address::of_state(conversation.recipient.clone());
        let key = call.caller.key(ConversationId::of_state(&conversation.recipient));
        let hold = engine.hold(&key).await;
        let before = hold.state().await?;
        let part = Part::new(&hold, before.clone());
        let state = before.unwrap_or_else(|| engine.new_conversation(key, &address, None));
        Ok(Self { hold, part, state })
    }
}
