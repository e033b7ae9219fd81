//! ForkConversation, and edits that go to a fork.

use std::{collections::BTreeSet, sync::Arc};

use crate::{
    domain::{
        Change, Conversation, ConversationId, ConversationKey, LineageId, RecipientId, Refusal, Revision,
        Sequence, Utterance, Verdict,
        change::Context,
        error::CONVERSATION,
        fork::{Fork, ForkEdited, Forked, fork, fork_edited},
    },
    engine::{
        Address, Applied, Attempt, Caller, Engine, EngineError, Operation, UpdateUtteranceCall,
        UpdateUtteranceReply,
        settle::Settled,
        several::{Beside, Held, Step},
        write::ATTEMPTS,
    },
    store::{CommitError, Outcome, PointerWrite},
};

/// Forks of a conversation that are listed with it at most.
const MAX_LISTED: usize = 1_000;

/// A conversation to fork.
#[derive(Clone, Debug)]
pub struct ForkCall {
    /// The conversation.
    pub address: Address,
    /// The fork's id; by default a new one.
    pub id: Option<ConversationId>,
    /// Whose conversation the fork is; by default its parent's recipient's.
    pub recipient: Option<RecipientId>,
    /// The last sequence that both share; by default the newest.
    pub at: Option<Sequence>,
    /// The fork's title; by default its parent's.
    pub title: Option<Arc<str>>,
    /// Makes the fork its recipient's active conversation, also when there is one already.
    pub activate: bool,
    /// The revision that the caller expects the conversation at.
    pub expected: Option<Revision>,
    /// The caller's name for this attempt.
    pub attempt: Option<Attempt>,
}

/// What became of it; the state is the fork's.
pub type ForkReply = Applied<()>;

/// How a fork is made.
struct Making<'a> {
    caller: &'a Caller,
    address: &'a Address,
    attempt: Option<&'a Attempt>,
    activate: bool,
    command: Fork,
}

/// What a rule makes of the conversation: the fork, the utterance in it that the call is about, and
/// what else the response needs.
type Ruled<T> = (Forked, Option<Sequence>, T);

impl Engine {
    /// Forks a conversation. The fork is its recipient's active conversation when there is none.
    ///
    /// Refuses an id that is taken.
    pub async fn fork_conversation(&self, caller: &Caller, call: ForkCall) -> Result<ForkReply, EngineError> {
        let command = Fork {
            recipient: call.recipient.clone(),
            at: call.at,
            title: call.title.clone(),
            expected: call.expected,
            ..self.new_fork(caller, call.id.clone())
        };
        let (address, attempt, activate) = (&call.address, call.attempt.as_ref(), call.activate);
        let making = Making { caller, address, attempt, activate, command };
        self.make_fork(&making, |before, context| {
            Ok(fork(before, &making.command, context)?.map(|forked| (forked, None, ())))
        })
        .await
    }

    /// Makes a change of an utterance's content in a fork of its conversation.
    pub async fn edit_as_fork(
        &self,
        caller: &Caller,
        mut call: UpdateUtteranceCall,
    ) -> Result<UpdateUtteranceReply, EngineError> {
        self.count_edit(caller, &mut call).await?;
        let command = ForkEdited { fork: self.new_fork(caller, None), update: call.update };
        let (address, attempt) = (&call.address, call.attempt.as_ref());
        let making = Making { caller, address, attempt, activate: false, command: command.fork.clone() };
        self.make_fork(&making, |before, context| {
            let edited = fork_edited(before, &command, context)?;
            Ok(edited.map(|edited| {
                let target: Arc<Utterance> = edited.utterance;
                (edited.forked, Some(target.sequence), target)
            }))
        })
        .await
    }

    /// The forks of a conversation and their points, by id; at most 1,000.
    pub async fn forks(&self, parent: &Conversation) -> Result<Vec<(ConversationId, Sequence)>, EngineError> {
        let mut forks = Vec::new();
        if parent.head.trunks.is_empty() {
            return Ok(forks);
        }
        for (key, _) in self.store.sharing(parent.key()).await? {
            let Some(state) = self.published(&key).await? else { continue };
            let from = state.head.forked_from.as_ref();
            let from = from.filter(|from| from.conversation == parent.key().id);
            forks.extend(from.map(|from| (key.id, from.sequence)));
            if forks.len() == MAX_LISTED {
                break;
            }
        }
        Ok(forks)
    }

    fn new_fork(&self, caller: &Caller, id: Option<ConversationId>) -> Fork {
        let lineage = || LineageId(self.clock.unique().to_be_bytes());
        Fork {
            key: caller.key(id.unwrap_or_else(|| self.new_conversation_id())),
            recipient: None,
            lineage: lineage(),
            branch: lineage(),
            at: None,
            title: None,
            expected: None,
        }
    }

    /// Decides on the newest pending state of the parent, commits parent and fork together, and
    /// publishes both; again when another process was faster.
    async fn make_fork<T: Send>(
        &self,
        making: &Making<'_>,
        mut rule: impl FnMut(&Conversation, &Context<'_>) -> Result<Verdict<Ruled<T>>, Refusal> + Send,
    ) -> Result<Applied<T>, EngineError> {
        for _ in 0..ATTEMPTS {
            if let Some(outcome) = self.earlier(making.caller, making.attempt).await? {
                return Ok(Applied::Earlier(self.references(making.caller, outcome).await?));
            }
            let parent = self.resolve(making.caller, making.address).await?;
            let parent = making.caller.key(parent.ok_or_else(|| making.address.not_found())?);
            if parent == making.command.key {
                return Err(making.taken().into());
            }
            let lanes = self.lanes_of(&BTreeSet::from([parent.clone(), making.command.key.clone()]));
            let Some(mut held) = Held::all(&lanes).await else { continue };
            let decided = self.fork_held(making, &parent, &mut held, &mut rule).await;
            self.let_all_go(held);
            let Some((settled, applied)) = decided? else { continue };
            match settled.result().await {
                Ok(()) => return Ok(applied),
                Err(CommitError::Conflict) => {}
                Err(CommitError::Store(error)) => return Err(error.into()),
            }
        }
        Err(EngineError::Contended)
    }

    /// Hands a fork to the store; `None` when another conversation is meant by now. The lanes of parent
    /// and fork are held.
    async fn fork_held<T: Send>(
        &self,
        making: &Making<'_>,
        key: &ConversationKey,
        held: &mut Held<'_>,
        rule: &mut (impl FnMut(&Conversation, &Context<'_>) -> Result<Verdict<Ruled<T>>, Refusal> + Send),
    ) -> Result<Option<(Settled, Applied<T>)>, EngineError> {
        let parent = self.newest_held(held, key).await?.ok_or_else(|| making.address.not_found())?;
        making.address.check_recipient(&parent)?;
        if held.is_elsewhere(making.address, &parent).await {
            return Ok(None);
        }
        if self.newest_held(held, &making.command.key).await?.is_some() {
            return Err(making.taken().into());
        }
        let lane = held.lane(key).map(|lane| &**lane);
        let (Forked { parent: frozen, fork }, target, value) =
            self.decide_on(&parent, lane, self.clock.now(), rule).await?;
        let beside = Beside {
            ahead: None,
            pointers: self.pointer_to(&fork.after, making).await?.into_iter().collect(),
            outcomes: making.outcome(&fork.change, &fork.after, target),
        };
        let (operation, attempt) = (Operation::ForkConversation, making.attempt);
        let head = &fork.after.head;
        let unborn = Arc::new(Conversation::new((*head.identity).clone(), head.policy.clone()));
        let steps = vec![
            Step { before: parent, transition: frozen, operation, attempt },
            Step { before: unborn, transition: fork, operation, attempt },
        ];
        let (settled, mut done) = self.commit_together(held, steps, beside);
        let (change, after) = done.pop().ok_or(EngineError::Interrupted)?;
        Ok(Some((settled, Applied::Now { after, change: Some(change), ended: None, value })))
    }

    /// What makes the fork its recipient's active conversation, if it is to be that.
    async fn pointer_to(
        &self,
        fork: &Conversation,
        making: &Making<'_>,
    ) -> Result<Option<PointerWrite>, EngineError> {
        let recipient = making.caller.recipient(fork.head.identity.recipient.clone());
        let before = self.store.active(&recipient).await?;
        let after = Some(fork.key().id.clone());
        let points = making.activate || before.is_none();
        Ok(points.then_some(PointerWrite { recipient, before, after }))
    }
}

impl Making<'_> {
    fn taken(&self) -> Refusal {
        Refusal::Exists { kind: CONVERSATION, name: self.command.key.id.to_string() }
    }

    fn outcome(
        &self,
        change: &Change,
        fork: &Conversation,
        target: Option<Sequence>,
    ) -> Vec<(crate::store::OutcomeKey, Arc<Outcome>)> {
        let outcome = |attempt: &Attempt| {
            let outcome = attempt.outcome(fork.head.update_time, fork, Some(change), target);
            (attempt.key(self.caller), Arc::new(outcome))
        };
        self.attempt.map(outcome).into_iter().collect()
    }
}
