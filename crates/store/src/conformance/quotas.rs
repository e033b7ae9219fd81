//! Quotas on what namespaces store.

use super::{forks::random_family, support::*};
use crate::OverQuota;
use utterd_domain::limits::CONVERSATION_BYTES;

/// Concurrent committers.
const TASKS: usize = 8;

/// Ended conversations count too; deleting one makes room immediately.
pub async fn conversations_beyond_a_quota_are_refused(store: Arc<dyn Store>) {
    hold(&store, Quotas { conversations: Some(2), bytes: None });
    let [mut first, mut second, third] = ["first", "second", "third"].map(|id| Script::new(&store, id));
    first.say(users(2)).await;
    second.create().await;
    let commit = third.saying(users(1)).await.commit();
    let over = over(store.commit(commit.clone()).await);
    assert_eq!((over.quota, over.limit, over.used, over.added), (Quota::Conversations, 2, 2, 1));
    assert_eq!(over.namespace, Namespace::default());
    third.check().await;
    second.say(users(3)).await;
    second.end("done").await;
    assert_eq!(self::over(store.commit(commit.clone()).await), over, "one that has ended is kept");
    second.delete().await;
    store.commit(commit).await.expect("there is room for one more");
}

/// A commit that adds no bytes is accepted at the quota; erasing or deleting makes room immediately.
pub async fn bytes_beyond_a_quota_are_refused(store: Arc<dyn Store>) {
    let mut script = Script::with(&store, "full", Policy { archive_limit: 9, ..Policy::ROLLING });
    script.say(vec![user(&"x".repeat(1_000)), user("short")]).await;
    let limit = CONVERSATION_BYTES + script.state.head.stored_bytes;
    assert_eq!(limit, CONVERSATION_BYTES + 2 * 128 + 1_005, "texts, and so much for each");
    hold(&store, Quotas { conversations: None, bytes: Some(limit) });
    let over = over(store.commit(script.saying(vec![user("more")]).await.commit()).await);
    assert_eq!((over.quota, over.limit, over.used, over.added), (Quota::Bytes, limit, limit, 132));
    script.check().await;
    script.forget("oldest", false).await;
    script.restore(&[1]).await;
    assert!(is_over(store.commit(Script::new(&store, "another").creating().commit()).await));
    script.forget("sequence:1", true).await;
    script.say(vec![user(&"y".repeat(1_000))]).await;
    assert!(
        is_over(store.commit(script.saying(vec![user("more")]).await.commit()).await),
        "it is full again"
    );
    script.end("done").await;
    script.delete().await;
    script.say(vec![user("It starts anew.")]).await;
}

/// Data stored before the quota was set counts. A quota can be changed, and data beyond it stays.
pub async fn what_is_stored_already_counts(store: Arc<dyn Store>) {
    hold(&store, Quotas::default());
    let mut scripts = ["one", "two", "three"].map(|id| Script::new(&store, id));
    for script in &mut scripts {
        script.say(users(40)).await;
    }
    hold(&store, Quotas { conversations: Some(1), bytes: Some(1) });
    let [one, two, three] = &mut scripts;
    let next = Script::new(&store, "next").creating().commit();
    assert_eq!(over(store.commit(next.clone()).await).used, 3);
    assert!(is_over(store.commit(one.saying(users(1)).await.commit()).await));
    assert!(one.forget("all", true).await, "what is beyond can be read and forgotten");
    two.delete().await;
    three.end("done").await;
    three.delete().await;
    assert!(is_over(store.commit(next.clone()).await), "there is still one");
    hold(&store, Quotas { conversations: Some(2), bytes: Some(1 << 20) });
    store.commit(next).await.expect("there may be two");
}

/// A removed conversation makes room for one added by the same commit.
pub async fn a_commit_counts_for_what_it_adds_in_all(store: Arc<dyn Store>) {
    hold(&store, Quotas { conversations: Some(1), bytes: None });
    let [mut old, mut new] = ["old", "new"].map(|id| Script::new(&store, id));
    old.create().await;
    let start = new.saying(users(1)).await;
    let end = old.ending("idle timeout");
    let rollover = Commit { writes: vec![end.write(), start.write()], ..Commit::default() };
    assert_eq!(over(store.commit(rollover).await).added, 1, "what has ended is kept");
    old.check().await;
    new.check().await;
    let replaced = Commit { writes: vec![start.write(), old.deleting()], ..Commit::default() };
    store.commit(replaced).await.expect("one for one");
    new.advance(&start);
    new.check().await;
}

/// A fork counts all of its utterances, including shared ones.
pub async fn a_fork_counts_what_it_has(store: Arc<dyn Store>) {
    hold(&store, Quotas::default());
    let mut family = Family::of(&store, "parent", Policy::SESSION);
    family.member("parent").say(users(9)).await;
    let (_, bytes) = used(&store, "default").await;
    family.fork("parent", "fork").await;
    assert_eq!(used(&store, "default").await, (2, 2 * bytes));
    family.delete(&["parent"]).await;
    assert_eq!(used(&store, "default").await, (1, bytes));
}

/// A commit that conflicts, or is refused for another quota, counts nothing.
pub async fn a_commit_without_effect_counts_nothing(store: Arc<dyn Store>) {
    hold(&store, Quotas { conversations: None, bytes: Some(8 << 10) });
    let mut script = Script::new(&store, "one");
    let stale = script.saying(users(3)).await.commit();
    script.say(users(1)).await;
    let before = used(&store, "default").await;
    hold(&store, Quotas { conversations: None, bytes: Some(8 << 10) });
    for _ in 0..9 {
        refused(&store, stale.clone()).await;
        let large = Script::new(&store, "large").saying(vec![user(&"x".repeat(8 << 10))]).await;
        assert!(is_over(store.commit(large.commit()).await));
    }
    assert_eq!(used(&store, "default").await, before);
}

/// No more concurrent commits are accepted than fit.
pub async fn no_more_are_taken_at_once_than_fit(store: Arc<dyn Store>) {
    hold(&store, Quotas { conversations: Some(3), bytes: None });
    let committer = |task: usize| {
        let script = Script::new(&store, &format!("by {task}"));
        tokio::spawn(async move {
            let step = script.saying(users(1)).await;
            script.store.commit(step.commit()).await
        })
    };
    let refused = join((0..TASKS).map(committer)).await.into_iter().filter(Result::is_err);
    assert_eq!(refused.map(is_over).collect::<Vec<_>>(), [true; TASKS - 3]);
    assert_eq!(used(&store, "default").await.0, 3);
}

/// Each namespace has its own quota, and errors only mention its own usage.
pub async fn a_namespace_is_held_to_its_own_quota(store: Arc<dyn Store>) {
    hold(&store, Quotas { conversations: Some(1), bytes: None });
    for namespace in ["one", "other"] {
        let of = |id| Script::of(&store, identity(key_in(namespace, id), "ann"), Policy::ROLLING);
        of("first").create().await;
        let over = over(store.commit(of("second").creating().commit()).await);
        assert_eq!((over.namespace.as_str(), over.used), (namespace, 1));
    }
}

/// After each of many changes, the namespace's count equals what is stored, and is zero once everything is
/// deleted.
pub async fn what_is_counted_is_what_is_stored(store: Arc<dyn Store>) {
    hold(&store, Quotas::default());
    let mut families = Vec::new();
    for seed in 4..=7 {
        families.push(random_family(&store, seed, 25).await);
        let members = families.iter().flat_map(|family| family.members.values());
        let bytes: u64 = members.clone().map(bytes_of).sum();
        assert_eq!(used(&store, "default").await, (members.count() as u64, bytes));
    }
    for mut family in families {
        family.delete_all().await;
    }
    assert_eq!(used(&store, "default").await, (0, 0));
}

/// The bytes that a conversation should count, computed from its expected content.
pub(crate) fn bytes_of(script: &Script) -> u64 {
    let head = &script.state.head;
    let labels: usize = head.labels.iter().map(|(key, value)| key.len() + value.len()).sum();
    let title = head.title.as_ref().map_or(0, |title| title.len());
    let said: u64 = script.stored().map(|utterance| utterance.stored_bytes()).sum();
    said + CONVERSATION_BYTES + (labels + title) as u64
}

/// Returns the store's count of a namespace's conversations and bytes, from the errors of a zero quota. Leaves
/// no quota set.
pub(crate) async fn used(store: &Arc<dyn Store>, namespace: &str) -> (u64, u64) {
    let script = Script::of(store, identity(key_in(namespace, "a probe"), "ann"), Policy::ROLLING);
    let probe = || store.commit(script.creating().commit());
    hold(store, Quotas { conversations: Some(0), bytes: None });
    let conversations = over(probe().await).used;
    hold(store, Quotas { conversations: None, bytes: Some(0) });
    let bytes = over(probe().await).used;
    hold(store, Quotas::default());
    (conversations, bytes)
}

fn hold(store: &Arc<dyn Store>, quotas: Quotas) {
    store.set_quotas(quotas).expect("the store keeps quotas");
}

fn over(result: Result<(), CommitError>) -> OverQuota {
    match result {
        Err(CommitError::Store(StoreError::OverQuota(over))) => *over,
        other => panic!("the commit is not beyond a quota: {other:?}"),
    }
}

fn is_over(result: Result<(), CommitError>) -> bool {
    matches!(result, Err(CommitError::Store(StoreError::OverQuota(_))))
}
