//! The calls to the engine and their answers: the only file that calls it.

use std::sync::Arc;

use utterd::{
    domain::{
        Change, Conversation, ConversationId, Sequence, Utterance,
        compaction::{Compact, Undo},
        end::End,
        forget::restore::Restore,
        state::UpdateState,
        update::{Update, UpdateUtterance},
    },
    engine::{
        self, Address, Applied, Attempt, Caller, Command, ConversationPage, CreateCall, Edit, Engine,
        EngineError, ForgetCall, ForkCall, Found, ListConversations, ListUtterances, MemorizeCall,
        RememberCall,
    },
    store::Outcome,
};

/// One call.
#[derive(Clone, Debug)]
pub enum Call {
    Memorize(MemorizeCall),
    /// Replaces everything after a sequence.
    Replace(MemorizeCall, Sequence),
    Forget(ForgetCall),
    Restore(engine::Call<Restore>),
    Edit(engine::Call<UpdateUtterance>, Option<Edit>),
    Update(engine::Call<Update>),
    State(engine::Call<UpdateState>),
    End(engine::Call<End>),
    Create(CreateCall),
    Delete(ConversationId),
    Fork(ForkCall),
    Compact(engine::Call<Compact>),
    Undo(engine::Call<Undo>),
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
            Self::Memorize(call) => applied(engine.memorize(caller, call).await?, |_| Vec::new()),
            Self::Replace(call, after) => applied(engine.replace(caller, call, after).await?, |_| Vec::new()),
            Self::Forget(call) => applied(engine.forget(caller, call).await?, |told| told.utterances),
            Self::Restore(call) => changed(engine, call).await?,
            Self::Edit(call, edit) => edited(engine.update_utterance(caller, call, edit).await?),
            Self::Update(call) => changed(engine, call).await?,
            Self::State(call) => changed(engine, call).await?,
            Self::End(call) => changed(engine, call).await?,
            Self::Create(call) => applied(engine.create_conversation(caller, call).await?, |()| Vec::new()),
            Self::Delete(id) => Answer::Deleted(engine.delete_conversation(caller, id, None).await?),
            Self::Fork(call) => applied(engine.fork_conversation(caller, call).await?, |()| Vec::new()),
            Self::Compact(call) => changed(engine, call).await?,
            Self::Undo(call) => changed(engine, call).await?,
            Self::Capacity(address) => Answer::State(engine.capacity(caller, &address).await?, None),
            Self::Get(address) => {
                let (state, active) = engine.get_conversation(caller, &address).await?;
                Answer::State(state, Some(active))
            }
            Self::List(list) => {
                let page = engine.list_utterances(caller, &list).await?;
                let utterances = page.iter().cloned().map(Arc::new).collect();
                Answer::Listed(page.state, utterances)
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

    /// The caller's name for the attempt.
    pub fn attempt(&self) -> Option<&Attempt> {
        match self {
            Self::Memorize(call) | Self::Replace(call, _) => call.attempt.as_ref(),
            Self::Forget(call) => call.attempt.as_ref(),
            Self::Restore(call) => call.attempt.as_ref(),
            Self::Edit(call, _) => call.attempt.as_ref(),
            Self::Update(call) => call.attempt.as_ref(),
            Self::State(call) => call.attempt.as_ref(),
            Self::End(call) => call.attempt.as_ref(),
            Self::Create(call) => call.attempt.as_ref(),
            Self::Fork(call) => call.attempt.as_ref(),
            Self::Compact(call) => call.attempt.as_ref(),
            Self::Undo(call) => call.attempt.as_ref(),
            _ => None,
        }
    }

    /// The addressed conversation.
    pub fn address(&self) -> Option<Address> {
        Some(match self {
            Self::Memorize(call) | Self::Replace(call, _) => call.address.clone(),
            Self::Forget(call) => call.address.clone(),
            Self::Restore(call) => call.address.clone(),
            Self::Edit(call, _) => call.address.clone(),
            Self::Update(call) => call.address.clone(),
            Self::State(call) => call.address.clone(),
            Self::End(call) => call.address.clone(),
            Self::Create(call) => call.address.clone(),
            Self::Delete(id) => Address { conversation: Some(id.clone()), ..Address::default() },
            Self::Fork(call) => call.address.clone(),
            Self::Compact(call) => call.address.clone(),
            Self::Undo(call) => call.address.clone(),
            Self::Capacity(address) | Self::Get(address) | Self::Export(address) => address.clone(),
            Self::List(list) => list.address.clone(),
            Self::Remember(call) => call.address.clone(),
            Self::Conversations(_) => return None,
        })
    }
}

/// The answer of a command on one conversation.
async fn changed<C: Command>(engine: Arc<Engine>, call: engine::Call<C>) -> Result<Answer, EngineError> {
    Ok(applied(engine.apply(&Caller::default(), call).await?, |_| Vec::new()))
}

/// The answer of an edit, with the utterance.
fn edited(applied: Applied<()>) -> Answer {
    let target = applied.target().cloned();
    self::applied(applied, |()| target.into_iter().collect())
}

/// The answer of a write.
pub fn applied<T>(applied: Applied<T>, told: impl FnOnce(T) -> Vec<Arc<Utterance>>) -> Answer {
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
