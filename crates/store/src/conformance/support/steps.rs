//! What cases do and ask beside a script.

use std::sync::Arc;

use tokio::task::JoinHandle;

use super::{
    script::Script,
    values::{START, identity, key},
};
use crate::{Commit, CommitError, List, RecipientKey, Store, StoreError};
use utterd_domain::Policy;

/// Creates a conversation that starts this many seconds after [`START`].
pub async fn starting(store: &Arc<dyn Store>, id: &str, recipient: &str, seconds: i64) -> Script {
    let mut identity = identity(key(id), recipient);
    identity.start_time.0 = START.0 + seconds * 1_000_000;
    let mut script = Script::of(store, identity, Policy::ROLLING);
    script.create().await;
    script
}

/// Reads every id of a recipient's conversations, `limit` at a time.
pub async fn listed(store: &Arc<dyn Store>, recipient: &RecipientKey, limit: usize) -> Vec<String> {
    let (mut ids, mut after) = (Vec::new(), None);
    loop {
        let list = List { after, ..List::newest(recipient, limit) };
        let is_first = list.after.is_none();
        let page = store.list(list).await.expect("a list is read");
        assert!(page.len() <= limit, "a page holds at most its limit");
        if is_first {
            let keys = store.newest_keys(recipient, limit).await.expect("a list is read");
            assert!(
                keys.iter().eq(page.iter().map(|head| &head.identity.key)),
                "keys are those of the heads"
            );
        }
        let Some(last) = page.last() else { return ids };
        after = Some((last.identity.start_time, last.identity.key.id.clone()));
        ids.extend(page.iter().map(|head| head.identity.key.id.to_string()));
    }
}

pub async fn active(store: &Arc<dyn Store>, recipient: &RecipientKey) -> Option<String> {
    let active = store.active(recipient).await.expect("a pointer is read");
    active.map(|id| id.to_string())
}

/// Checks that the commit conflicts.
pub async fn refused(store: &Arc<dyn Store>, commit: Commit) {
    assert!(matches!(store.commit(commit).await, Err(CommitError::Conflict(_))));
}

/// The results of all these tasks.
pub async fn join<T>(tasks: impl Iterator<Item = JoinHandle<T>>) -> Vec<T> {
    let joined = futures::future::join_all(tasks).await;
    joined.into_iter().map(|result| result.expect("a task does not panic")).collect()
}

/// Whether the commit was refused for lack of room.
pub fn is_full(result: &Result<(), CommitError>) -> bool {
    matches!(result, Err(CommitError::Store(StoreError::Full { .. })))
}
