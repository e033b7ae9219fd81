//! Summaries of rolling windows, as the engine keeps them.

use std::sync::Arc;

use utterd::{
    domain::{
        ConversationId, Draft, Encoding, Policy, Sequence, Utterance,
        conversation::{Conversation as State, Timeouts},
    },
    engine::{Address, Caller, Defaults, Engine, MemorizeCall, Operation, SystemClock},
    store::MemoryStore,
    tokenizer,
};

use super::conversations::{Conversation, Cut};

/// What left the default window at each cut, and its summary; omits cuts at which nothing had left.
pub fn rolled(conversation: &Conversation, limit: u32) -> Vec<Cut> {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    let places: Vec<usize> = conversation.cuts().map(|(before, _)| before.len()).collect();
    let states = runtime.block_on(states(conversation, &places, limit));
    let cuts = places.iter().zip(&states).map(|(place, state)| cut(&conversation.0, *place, state));
    cuts.filter(|cut| !cut.before.is_empty()).collect()
}

/// Sequences of memorized messages start at 1.
fn cut(all: &[Arc<Utterance>], place: usize, state: &State) -> Cut {
    let stays: Vec<Sequence> = state.window.iter().map(|utterance| utterance.sequence).collect();
    let left =
        all[..place].iter().zip(1..).filter(|(_, number)| stays.binary_search(&Sequence(*number)).is_err());
    Cut {
        before: left.map(|(utterance, _)| utterance.clone()).collect(),
        after: all[place..].to_vec(),
        lines: state.summary.lines().cloned().collect(),
    }
}

/// The states after these numbers of messages, memorized one by one.
async fn states(conversation: &Conversation, places: &[usize], limit: u32) -> Vec<Arc<State>> {
    let engine = engine(limit);
    let address = Address { conversation: ConversationId::new("rolled").ok(), ..Address::default() };
    let mut states = Vec::new();
    for (utterance, number) in conversation.0.iter().zip(1..) {
        let drafts = vec![draft(utterance)];
        let call =
            MemorizeCall { address: address.clone(), drafts, lenient: true, ..MemorizeCall::default() };
        engine.memorize(&Caller::default(), call).await.unwrap();
        if places.contains(&number) {
            states.push(
                engine.read_for(&Caller::default(), &address, Operation::GetSummary, |_| 1).await.unwrap(),
            );
        }
    }
    states
}

fn engine(limit: u32) -> Arc<Engine> {
    let defaults = Defaults {
        policy: Policy { summary_token_limit: Some(limit), ..Policy::ROLLING },
        encoding: Encoding::O200kBase,
        timeouts: Timeouts::default(),
        max_conversations_retained: 0,
        event_capacity: 16,
        cache_bytes: 1 << 20,
        index_bytes: 1 << 20,
    };
    Arc::new(Engine::new(Arc::new(MemoryStore::new(0)), Arc::new(SystemClock), tokenizer::counter, defaults))
}

fn draft(utterance: &Utterance) -> Draft {
    Draft {
        id: None,
        role: utterance.role,
        content: utterance.content.clone(),
        turn: None,
        create_time: None,
        pinned: false,
        more: utterance.more.clone(),
    }
}
