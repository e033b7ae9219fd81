//! Which recipients may have more conversations than are retained.

use super::{engine, saying};
use crate::{Address, Caller};
use utterd_domain::Policy;
use utterd_store::MemoryStore;

#[tokio::test]
async fn a_recipient_is_looked_at_when_its_conversation_begins_and_not_at_each_write() {
    let engine = engine(MemoryStore::new(0), Policy::SESSION, 1 << 20);
    for begins in [true, false, false] {
        engine.memorize(&Caller::default(), saying(Address::default(), None)).await.unwrap();
        assert_eq!(engine.retention.take().is_some(), begins);
    }
}
