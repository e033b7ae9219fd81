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
pub struct RecipientStateWrite(Option<(Part, Hold)>);

impl RecipientStateWrite {
    /// Makes the write's change to the state, if any, on the result of the writes before it.
    pub async fn change(
        &mut self,
        engine: &Arc<Engine>,
        call: &WriteCall,
        conversation: &Identity,
        commit: ChangeId,
    ) -> Result<()> {
        let Some(update) = call.recipient_state.clone() else { return Ok(()) };
        let recipient = &conversation.recipient;
        let key = call.caller.key(ConversationId::of_state(recipient));
        let (part, _) = match &mut self.0 {
            Some(held) => held,
            none => {
                let hold = engine.hold(&key).await;
                none.insert((Part::new(&hold, hold.state().await?), hold))
            }
        };
        let address = Address::of_state(recipient.clone());
        let before = part.newest().cloned();
        let before = before.unwrap_or_else(|| engine.new_conversation(key, &address, None));
        let rule = move |before: &Conversation, context: &Context<'_>| {
            let updated = update_state(before, &update, context);
            Ok(updated.map_err(|refusal| refusal.within("recipient_state."))?)
        };
        let decided = Decided::of(engine.rehearse(&before, rule).await?, commit);
        part.add(&decided, Operation::UpdateState, call.attempt.as_ref());
        Ok(())
    }

    /// Whether there is nothing to commit.
    pub fn is_empty(&self) -> bool {
        self.0.as_ref().is_none_or(|(part, _)| part.changes().is_empty())
    }

    /// Returns the part to commit, and the hold to keep until it is committed.
    pub fn done(self) -> (Option<Part>, Option<Hold>) {
        self.0.unzip()
    }
}
