//! Forking conversations, and edits made in a fork.

use std::{collections::BTreeSet, sync::Arc};

use crate::{
    Address, Applied, Attempt, Call, Caller, Edit, Engine, EngineError, Operation, Result,
    applied::Decided,
    events::facts::Named,
    lane::{
        commit::{Extras, Part, Uncommitted},
        completed::complete,
        hold::{Hold, held},
        queued::{ATTEMPTS, Target, WriteCall},
    },
};
use utterd_domain::{
    Conversation, ConversationId, ConversationKey, Head, LineageId, RecipientId, Refusal, Revision, Sequence,
    Timestamp, Undecided, Utterance,
    change::Context,
    error::CONVERSATION,
    fork::{Fork, ForkEdited, Forked, fork, fork_edited},
    update::UpdateUtterance,
};
use utterd_store::PointerWrite;

/// The maximum number of forks listed with a conversation.
const MAX_LISTED: usize = 1_000;

/// A conversation to fork.
#[derive(Clone, Debug)]
pub struct ForkCall {
    /// The conversation.
    pub address: Address,
    /// The fork's id; new by default.
    pub id: Option<ConversationId>,
    /// The fork's recipient; by default its parent's.
    pub recipient: Option<RecipientId>,
    /// The last sequence that the fork shares with its parent; by default the newest.
    pub at: Option<Sequence>,
    /// The fork's title; by default its parent's.
    pub title: Option<Arc<str>>,
    /// The fork's start time; by default now.
    pub start: Option<Timestamp>,
    /// Whether the fork becomes its recipient's active conversation even if there already is one; `None` if it never
    /// becomes that.
    pub activate: Option<bool>,
    /// The revision the caller expects the conversation to have.
    pub expected: Option<Revision>,
    /// The request id of this attempt, if the caller gave one.
    pub attempt: Option<Attempt>,
}

/// The result; its state is the fork's.
pub type ForkReply = Applied<()>;

/// The result of a rule: the fork, and the utterance of the fork that the call is about.
type Ruled = (Forked, Option<Arc<Utterance>>);

type ForkRule = dyn Fn(&Conversation, &Context<'_>) -> Result<Ruled, Undecided> + Send + Sync;

impl Engine {
    /// Forks a conversation. The fork becomes its recipient's active conversation if there is none.
    ///
    /// Fails if the id is taken.
    pub async fn fork_conversation(self: &Arc<Self>, caller: &Caller, call: ForkCall) -> Result<ForkReply> {
        let command = Fork {
            recipient: call.recipient,
            at: call.at,
            title: call.title,
            start: call.start,
            expected: call.expected,
            ..self.new_fork(caller, call.id)
        };
        self.make_fork(Making {
            call: WriteCall::new(caller, call.address, call.attempt, Operation::ForkConversation),
            key: command.key.clone(),
            activate: call.activate,
            rule: Arc::new(move |before, context| Ok((fork(before, &command, context)?, None))),
        })
        .await
    }

    /// Edits an utterance's content in a fork of its conversation.
    pub async fn edit_as_fork(
        self: &Arc<Self>,
        caller: &Caller,
        mut call: Call<UpdateUtterance>,
        edit: Option<Edit>,
    ) -> Result<Applied<()>> {
        self.count_edit(caller, &mut call, edit).await?;
        let command = ForkEdited { fork: self.new_fork(caller, None), update: call.command };
        self.make_fork(Making {
            call: WriteCall::new(caller, call.address, call.attempt, Operation::ForkConversation),
            key: command.fork.key.clone(),
            activate: Some(false),
            rule: Arc::new(move |before, context| {
                let edited = fork_edited(before, &command, context)?;
                Ok((edited.forked, Some(edited.utterance)))
            }),
        })
        .await
    }

    /// Returns the forks of a conversation and their fork points, by id; at most 1,000.
    pub async fn forks(self: &Arc<Self>, parent: &Conversation) -> Result<Vec<(ConversationId, Sequence)>> {
        let mut forks = Vec::new();
        if parent.head.trunks.is_empty() {
            return Ok(forks);
        }
        let family = self.store.sharing(parent.key()).await?.into_iter();
        let family: Vec<_> = family.map(|(key, _)| key).collect();
        for some in family.chunks(MAX_LISTED) {
            let heads = self.store.heads(some).await?;
            forks.extend(heads.iter().filter_map(|head| fork_point(parent.key(), head)));
            if forks.len() >= MAX_LISTED {
                break;
            }
        }
        forks.sort();
        forks.truncate(MAX_LISTED);
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
            start: None,
            expected: None,
        }
    }

    /// Decides on the parent, commits parent and fork together, and publishes both. Retries if another writer
    /// changes either.
    async fn make_fork(self: &Arc<Self>, making: Making) -> Result<Applied<()>> {
        let engine = self.clone();
        complete(async move {
            for _ in 0..ATTEMPTS {
                let target = match engine.aim(&making.call, false).await {
                    Ok(target) => target,
                    Err(unqueued) => return engine.unqueued(&making.call.caller, unqueued).await,
                };
                if target.key == making.key {
                    return Err(making.taken().into());
                }
                let keys = BTreeSet::from([target.key.clone(), making.key.clone()]);
                let holds = engine.hold_all(&keys).await;
                let meant = target.clone();
                match engine.fork_held(&making, target, &holds).await {
                    Ok(Some(applied)) => return Ok(applied),
                    Ok(None) | Err(Uncommitted::Conflict(_)) => {}
                    Err(error) if error.is_refusal() && engine.is_outdated(&making.call, &meant).await? => {}
                    Err(error) => return Err(error.into()),
                }
            }
            Err(EngineError::Contended)
        })
        .await
    }

    /// Makes a fork; `None` if the address means another conversation by now. Parent and fork must be held.
    async fn fork_held(
        &self,
        making: &Making,
        mut target: Target,
        holds: &[Hold],
    ) -> Result<Option<Applied<()>>, Uncommitted> {
        let (Some(hold), Some(new)) = (held(holds, &target.key), held(holds, &making.key)) else {
            return Err(EngineError::Interrupted.into());
        };
        let (by_recipient, missing) = (target.exists, || making.call.address.not_found());
        let parent = match hold.state_since(target.seen.take()).await? {
            Some(parent) if by_recipient && !making.call.address.may_mean(&parent) => return Ok(None),
            Some(parent) => parent,
            None if by_recipient => return Ok(None),
            None => return Err(EngineError::from(missing()).into()),
        };
        making.call.address.check_recipient(&parent).map_err(EngineError::from)?;
        if new.state().await?.is_some() {
            return Err(EngineError::from(making.taken()).into());
        }
        let rule = making.rule.clone();
        let decided = self.rehearse(&parent, move |before, context| rule(before, context));
        let (forked, edited) = decided.await?;
        let commit = self.next_change();
        let (frozen, fork) = (Decided::of(forked.parent, commit), Decided::of(forked.fork, commit));
        let call = &making.call;
        let mut parts = [
            Part::from(hold, &parent).and(&frozen, call.operation, call.attempt.as_ref()),
            Part::new(new, None).and(&fork, call.operation, call.attempt.as_ref()),
        ];
        let named = edited.map_or_else(Named::default, Named::about);
        let applied = self.applied(call, &parent, Some(&fork), named);
        let outcomes = call.kept(&applied).into_iter().collect();
        let pointers = self.pointers((call, making.activate), &fork.after, target.pointer).await?;
        self.commit(&mut parts, Extras { pointers, outcomes }).await?;
        Ok(Some(applied))
    }

    /// Returns the pointer writes. One makes the fork its recipient's active conversation, if it should
    /// become that. The other one expects the parent's pointer, unless the parent's recipient is the same.
    async fn pointers(
        &self,
        (call, activate): (&WriteCall, Option<bool>),
        fork: &Conversation,
        parent: Option<PointerWrite>,
    ) -> Result<Vec<PointerWrite>> {
        let recipient = call.caller.recipient(fork.head.identity.recipient.clone());
        let before = self.store.active(&recipient).await?;
        let after = Some(fork.key().id.clone());
        let moves = activate.is_some_and(|activate| activate || before.is_none());
        let moved = moves.then_some(PointerWrite { recipient, before, after });
        let parent = parent.filter(|stays| moved.as_ref().is_none_or(|it| it.recipient != stays.recipient));
        Ok(parent.into_iter().chain(moved).collect())
    }
}

/// Returns the id of the conversation with this head and the sequence at which it was forked from `parent`,
/// if it was.
fn fork_point(parent: &ConversationKey, head: &Head) -> Option<(ConversationId, Sequence)> {
    let from = head.forked_from.as_ref().filter(|from| from.conversation == parent.id)?;
    Some((head.identity.key.id.clone(), from.sequence))
}

/// A fork to make.
struct Making {
    call: WriteCall,
    /// The fork's key.
    key: ConversationKey,
    /// See [`ForkCall::activate`].
    activate: Option<bool>,
    rule: Arc<ForkRule>,
}

impl Making {
    fn taken(&self) -> Refusal {
        Refusal::Exists { kind: CONVERSATION, name: self.key.id.to_string() }
    }
}
