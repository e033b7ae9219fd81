//! An engine and its store.

use std::{path::Path, sync::Arc, time::Duration};

use utterd::{
    domain::{
        Block, ConversationId, ConversationKey, Draft, Encoding, More, Namespace, Policy, Sequence,
        conversation::Timeouts,
    },
    engine::{Defaults, Engine, SystemClock},
    store::{
        Derived, Store,
        durable::{DurableStore, EngineKind, Flush, Options},
    },
    tokenizer,
};

use crate::{conversations::Spoken, cost::MANY};

/// An engine whose conversations have the default window, and an archive for everything that leaves it. There
/// are no summaries, which would cost more than what is measured.
pub fn engine(store: Arc<dyn Store>) -> Arc<Engine> {
    let policy = Policy { archive_limit: MANY as u32 * 2, summarization_enabled: false, ..Policy::ROLLING };
    let defaults = Defaults {
        policy,
        encoding: Encoding::O200kBase,
        timeouts: Timeouts::default(),
        max_conversations_retained: 0,
        event_capacity: 10_000,
        cache_bytes: 256 << 20,
        index_bytes: 256 << 20,
    };
    Arc::new(Engine::new(store, Arc::new(SystemClock), tokenizer::counter, defaults))
}

/// A store that replies before its disk has the data: the disk's speed is not what is measured.
pub fn fjall(path: &Path) -> Arc<dyn Store> {
    let options = Options { flush: Flush::Interval(Duration::from_secs(1)), ..Options::default() };
    Arc::new(DurableStore::open(EngineKind::Fjall, path, &options).unwrap())
}

/// Waits until the store has the whole index blocks of a conversation of [`MANY`] utterances: they are stored
/// after the reply.
pub async fn kept_blocks(store: &dyn Store, name: &str) {
    let key = ConversationKey { namespace: Namespace::default(), id: conversation(name) };
    let whole = Block::of(Sequence(MANY as u64)).0;
    let blocks = Block(0)..=Block(whole - 1);
    while (store.derived(&key, Derived::Index, blocks.clone()).await.unwrap().len() as u64) < whole {
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
}

pub fn conversation(name: &str) -> ConversationId {
    ConversationId::new(name).unwrap()
}

pub fn draft(spoken: &Spoken) -> Draft {
    let name = (!spoken.name.is_empty()).then(|| spoken.name.as_str().into());
    Draft::of(spoken.role, spoken.content.as_str(), More { name, ..More::default() })
}
