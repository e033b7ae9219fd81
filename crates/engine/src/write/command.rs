//! Commands that change one conversation: the operation, and the rule of the domain that decides each.

use std::sync::Arc;

use crate::{
    Address, Applied, Attempt, Caller, Engine, Operation, Result,
    applied::RuleResult,
    events::facts::Named,
    lane::queued::{IfAbsent, Ruling, WriteCall},
};
use utterd_domain::{
    Conversation,
    change::Context,
    compaction::{Answer, Compact, Compacted, Compaction, Undo, answer, compact, undo},
    end::{End, end},
    forget::restore::{Restore, restore},
    state::{UpdateState, update_state},
    update::{Update, UpdateUtterance, update, update_utterance},
};

/// A command for a conversation.
#[derive(Clone, Debug)]
pub struct Call<C> {
    /// The conversation, or [a recipient's own state](Address::of_state).
    pub address: Address,
    /// What to do.
    pub command: C,
    /// The request id of this attempt, if the caller gave one.
    pub attempt: Option<Attempt>,
}

/// A command that changes one conversation, by a rule of the domain.
pub trait Command: Send + 'static {
    /// The operation that its events name.
    const OPERATION: Operation;
    /// The part of its answer besides the outcome and the state.
    type Value: Send + 'static;

    /// Decides how the command changes the conversation.
    fn decide(&self, before: &Conversation, context: &Context<'_>) -> Ruling<Self::Value>;
}

impl Engine {
    /// Decides a command in its conversation's queue, then commits and publishes it. The first command for a
    /// recipient's own state creates that state.
    pub async fn apply<C: Command>(
        self: &Arc<Self>,
        caller: &Caller,
        call: Call<C>,
    ) -> Result<Applied<C::Value>> {
        let Call { address, command, attempt } = call;
        let if_absent = if address.is_of_state() { IfAbsent::Create } else { IfAbsent::Refuse };
        let write = WriteCall { if_absent, ..WriteCall::new(caller, address, attempt, C::OPERATION) };
        self.write(write, move |before, context| command.decide(before, context)).await
    }
}

impl Command for Update {
    const OPERATION: Operation = Operation::UpdateConversation;
    type Value = ();

    fn decide(&self, before: &Conversation, context: &Context<'_>) -> Ruling<()> {
        Ok(RuleResult::of(update(before, self, context)?, ()))
    }
}

impl Command for UpdateUtterance {
    const OPERATION: Operation = Operation::UpdateUtterance;
    type Value = ();

    fn decide(&self, before: &Conversation, context: &Context<'_>) -> Ruling<()> {
        let updated = update_utterance(before, self, context)?;
        let named = Named::about(updated.utterance);
        Ok(RuleResult { named, ..RuleResult::of(updated.transition, ()) })
    }
}

impl Command for UpdateState {
    const OPERATION: Operation = Operation::UpdateState;
    type Value = ();

    fn decide(&self, before: &Conversation, context: &Context<'_>) -> Ruling<()> {
        let updated = update_state(before, self, context).map_err(|refusal| refusal.within("change."))?;
        Ok(RuleResult::of(updated, ()))
    }
}

impl Command for Restore {
    const OPERATION: Operation = Operation::Restore;
    type Value = ();

    fn decide(&self, before: &Conversation, context: &Context<'_>) -> Ruling<()> {
        Ok(RuleResult::of(restore(before, self, context)?, ()))
    }
}

impl Command for End {
    const OPERATION: Operation = Operation::EndConversation;
    type Value = ();

    fn decide(&self, before: &Conversation, context: &Context<'_>) -> Ruling<()> {
        Ok(RuleResult::of(end(before, self, context)?, ()))
    }
}

impl Command for Compact {
    const OPERATION: Operation = Operation::CompactConversation;
    /// The compaction; `None` if nothing was left to compact.
    type Value = Option<Arc<Compaction>>;

    fn decide(&self, before: &Conversation, context: &Context<'_>) -> Ruling<Self::Value> {
        let compacted = compact(before, self, context)?;
        let parts = compacted.map(|Compacted { transition, compaction }| (transition, compaction));
        let (transition, compaction) = parts.unzip();
        Ok(RuleResult::of(transition, compaction))
    }
}

impl Command for Undo {
    const OPERATION: Operation = Operation::UndoCompaction;
    /// The compaction that is undone.
    type Value = Arc<Compaction>;

    fn decide(&self, before: &Conversation, context: &Context<'_>) -> Ruling<Self::Value> {
        let undone = undo(before, self, context)?;
        Ok(RuleResult::of(undone.transition, undone.compaction))
    }
}

impl Command for Answer {
    const OPERATION: Operation = Operation::AnswerCompactionPrompt;
    type Value = ();

    fn decide(&self, before: &Conversation, context: &Context<'_>) -> Ruling<()> {
        Ok(RuleResult::of(answer(before, self, context)?, ()))
    }
}
