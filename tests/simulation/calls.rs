//! The calls to the engine and their answers: the only file that calls it.

use std::sync::Arc;

use utterd::{
    domain::{
        Change, Conversation, ConversationId, Encoding, RecipientId, Revision, Sequence, Utterance,
        compaction::{Cause, Compact, Undo},
        end::End,
        forget::{Forget, ForgetSelected, How, restore::Restore},
        forgetting::parse,
        state::UpdateState,
        update::{Update, UpdateUtterance},
    },
    engine::{
        self, Address, Applied, Attempt, Caller, ConversationPage, CreateCall, Edit, Engine, EngineError,
        ForgetCall, ForkCall, Found, ListConversations, ListUtterances, MemorizeCall, RememberCall, ToForget,
    },
    store::Outcome,
};

use crate::naive::{self, Command, Criterion, Doing, Selection};

/// One call.
#[derive(Clone, Debug)]
pub enum Call {
    Do(Command, Option<Attempt>),
    Delete(ConversationId),
    Capacity(Address),
    Get(Address),
    List(ListUtterances),
    Export(Address),
    Remember(RememberCall),
    Conversations(ListConversations),
}

/// The result of a call.
#[derive(Debug)]
pub enum Answer {
    /// It took effect now, if there was anything to change.
    Now {
        after: Arc<Conversation>,
        change: Option<Arc<Change>>,
        /// The outcome that a replay would return.
        outcome: Arc<Outcome>,
        /// The utterances in the answer in addition to the change.
        told: Vec<Arc<Utterance>>,
    },
    /// It took effect before.
    Earlier(Earlier),
    /// A state was read, and whether it is its recipient's active one.
    State(Arc<Conversation>, Option<bool>),
    /// All utterances were read.
    Listed(Arc<Conversation>, Vec<Arc<Utterance>>),
    Found(Vec<Found>),
    Deleted(u64),
    Conversations(ConversationPage),
}

/// An earlier outcome, the conversation as it is now, and the utterance that the call is about, if it is still stored.
#[derive(Debug)]
pub struct Earlier {
    pub outcome: Arc<Outcome>,
    pub conversation: Option<Arc<Conversation>>,
    pub utterances: Vec<Arc<Utterance>>,
}

impl Call {
    /// Calls the engine.
    pub async fn answer(self, engine: Arc<Engine>) -> Result<Answer, EngineError> {
        let caller = &Caller::default();
        Ok(match self {
            Self::Do(command, attempt) => done(engine, command, attempt).await?,
            Self::Delete(id) => Answer::Deleted(engine.delete_conversation(caller, id, None).await?),
            Self::Capacity(address) => Answer::State(
                engine.read_for(caller, &address, engine::Operation::GetCapacity, |_| 1).await?,
                None,
            ),
            Self::Get(address) => {
                let (state, active) = engine.get_conversation(caller, &address).await?;
                Answer::State(state, Some(active))
            }
            Self::List(list) => {
                let page = engine.list_utterances(caller, &list).await?;
                Answer::Listed(page.state, page.utterances)
            }
            Self::Export(address) => {
                let exported = engine.export_conversation(caller, &address).await?;
                Answer::Listed(exported.state, exported.utterances)
            }
            Self::Remember(call) => Answer::Found(engine.remember(caller, &call).await?.found),
            Self::Conversations(list) => {
                Answer::Conversations(engine.list_conversations(caller, list).await?)
            }
        })
    }

    /// What it changes, if it does.
    pub fn doing(&self) -> Option<&Doing> {
        match self {
            Self::Do(command, _) => Some(&command.doing),
            _ => None,
        }
    }

    /// The caller's name for the attempt.
    pub fn attempt(&self) -> Option<&Attempt> {
        match self {
            Self::Do(_, attempt) => attempt.as_ref(),
            _ => None,
        }
    }

    /// The addressed conversation.
    pub fn address(&self) -> Option<Address> {
        Some(match self {
            Self::Do(command, _) => address_of(command),
            Self::Delete(id) => Address { conversation: Some(id.clone()), ..Address::default() },
            Self::Capacity(address) | Self::Get(address) | Self::Export(address) => address.clone(),
            Self::List(list) => list.address.clone(),
            Self::Remember(call) => call.address.clone(),
            Self::Conversations(_) => return None,
        })
    }
}

/// The address of a command.
pub fn address_of(command: &Command) -> Address {
    let recipient = command.recipient.as_deref().map(recipient);
    if matches!(command.doing, Doing::Own(_)) {
        return Address::of_state(recipient.unwrap_or_default());
    }
    Address {
        conversation: command.conversation.as_deref().map(conversation),
        recipient,
        ..Address::default()
    }
}

pub fn recipient(name: &str) -> RecipientId {
    RecipientId::new(name).expect("an id")
}

fn conversation(id: &str) -> ConversationId {
    ConversationId::new(id).expect("an id")
}

async fn done(
    engine: Arc<Engine>,
    command: Command,
    attempt: Option<Attempt>,
) -> Result<Answer, EngineError> {
    let (caller, address) = (&Caller::default(), address_of(&command));
    let expected = command.expected.map(Revision);
    let title = |title: String| (!title.is_empty()).then(|| title.into());
    Ok(match command.doing {
        Doing::Memorize(said) => {
            let after = said.after.map(Sequence);
            let call = to_memorize(said, address, expected, attempt);
            applied(match after {
                Some(after) => engine.replace(caller, call, after).await?,
                None => engine.memorize(caller, call).await?,
            })
        }
        Doing::Forget(selection, how) => {
            let forget = to_forget(selection, how, expected);
            let forgotten =
                engine.forget(caller, ForgetCall { address, forget, dry_run: false, attempt }).await?;
            with(forgotten, |told| told.utterances)
        }
        Doing::Restore(ids) => {
            let ids = ids.into_iter().map(Into::into).collect();
            apply(engine, address, attempt, Restore { ids, expected }).await?
        }
        Doing::Edit(edit) => {
            let (update, edit) = to_edit(edit, expected);
            let call = engine::Call { address, attempt, command: update };
            edited(engine.update_utterance(caller, call, edit).await?)
        }
        Doing::EditAsFork(edit) => {
            let (update, edit) = to_edit(edit, expected);
            let call = engine::Call { address, attempt, command: update };
            edited(engine.edit_as_fork(caller, call, edit).await?)
        }
        Doing::Update { title: name, policy } => {
            let title = name.map(title);
            apply(engine, address, attempt, Update { title, labels: None, policy, expected }).await?
        }
        Doing::Create { title: name, policy } => {
            let (labels, encoding) = (Default::default(), Encoding::default());
            let call = CreateCall {
                address,
                title: title(name),
                policy,
                labels,
                encoding,
                inactive: false,
                attempt,
            };
            applied(engine.create_conversation(caller, call).await?)
        }
        Doing::State(change) => apply(engine, address, attempt, UpdateState { change, expected }).await?,
        Doing::Own(update) => apply(engine, address, attempt, (*update).clone()).await?,
        Doing::Fork(fork) => {
            let id = fork.id.as_deref().map(conversation);
            let (at, title) = (fork.at.map(Sequence), fork.title.and_then(title));
            let (recipient, activate) = (None, fork.activate);
            let (start, activate) = (None, Some(activate));
            let call = ForkCall { address, id, recipient, at, title, start, activate, expected, attempt };
            applied(engine.fork_conversation(caller, call).await?)
        }
        Doing::Compact(extent, summarises) => {
            let (focus, cause) = (Vec::new(), Cause::Asked);
            apply(engine, address, attempt, Compact { extent, summarises, focus, cause, expected }).await?
        }
        Doing::Tell => unreachable!("nobody calls it"),
        Doing::Undo => apply(engine, address, attempt, Undo { expected }).await?,
        Doing::End(reason) => {
            apply(engine, address, attempt, End { reason: reason.into(), expected }).await?
        }
    })
}

/// The call that memorizes what a command says.
pub fn to_memorize(
    said: naive::Memorize,
    address: Address,
    expected: Option<Revision>,
    attempt: Option<Attempt>,
) -> MemorizeCall {
    let naive::Memorize { drafts, lenient, upsert, state, own, .. } = said;
    MemorizeCall { address, drafts, attempt, expected, lenient, upsert, state, recipient_state: own }
}

fn to_forget(selection: Selection, how: How, expected: Option<Revision>) -> ToForget {
    match selection.criteria.into_iter().next() {
        Some(Criterion::Named(selector)) => ToForget::Named(ForgetSelected { selector, how, expected }),
        _ => {
            let instruction = parse(&selection.words).expect("an instruction");
            ToForget::Instructed(Forget { instruction, hard: how != How::Soft, expected })
        }
    }
}

fn to_edit(edit: naive::Edit, expected: Option<Revision>) -> (UpdateUtterance, Option<Edit>) {
    let naive::Edit { id, pinned, metadata, content } = edit;
    let update = UpdateUtterance { id: id.into(), pinned, metadata, content: None, expected };
    (update, content.map(|content| Edit { content, max_bytes: 1 << 20 }))
}

/// The answer of a command on one conversation.
async fn apply<C: engine::Command>(
    engine: Arc<Engine>,
    address: Address,
    attempt: Option<Attempt>,
    command: C,
) -> Result<Answer, EngineError> {
    Ok(applied(engine.apply(&Caller::default(), engine::Call { address, command, attempt }).await?))
}

/// The answer of an edit, with the utterance.
fn edited(applied: Applied<()>) -> Answer {
    let target = applied.target().cloned();
    with(applied, |()| target.into_iter().collect())
}

/// The answer of a write.
pub fn applied<T>(applied: Applied<T>) -> Answer {
    with(applied, |_| Vec::new())
}

fn with<T>(applied: Applied<T>, told: impl FnOnce(T) -> Vec<Arc<Utterance>>) -> Answer {
    let utterances = applied.target().cloned().into_iter().collect();
    let Applied { outcome, state, change, value, .. } = applied;
    match (state, value) {
        (Some(after), Some(value)) => {
            let returned = change.iter().flat_map(|change| change.returned.clone());
            let told = told(value).into_iter().chain(returned).collect();
            Answer::Now { after, change, outcome, told }
        }
        (conversation, _) => Answer::Earlier(Earlier { outcome, conversation, utterances }),
    }
}
