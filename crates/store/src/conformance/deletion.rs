//! A deleted conversation leaves nothing behind.

use super::support::*;

/// The window, archive, ids, list entries and due work of a deleted conversation are removed; conversations
/// with similar ids are untouched.
pub async fn what_is_deleted_is_gone(store: Arc<dyn Store>) {
    let mut scripts = Vec::new();
    for id in ["before", "deleted", "deleted!"] {
        scripts.push(worked(&store, id).await);
    }
    scripts[1].delete().await;
    assert_eq!(store.load(&key("deleted")).await, Ok(None));
    assert!(scripts[1].archived(&Ranges::of(Sequence(1), Sequence(1_000))).await.is_empty());
    assert_eq!(scripts[1].archived_ids(&["id"]).await, BTreeMap::new());
    assert_eq!(listed(&store, &recipient(RECIPIENT), 10).await, ["deleted!", "before"]);
    let due = store.due(START.plus(Duration::from_secs(3_600)), 10).await.unwrap();
    assert_eq!(due.len(), 2);
    for script in &scripts {
        script.check().await;
    }
    assert_eq!(scripts[2].archived_ids(&["id"]).await, BTreeMap::from([("id".to_owned(), 1)]));
}

/// A deletion conflicts if the conversation has changed since, like any change.
pub async fn deleting_at_another_revision_conflicts(store: Arc<dyn Store>) {
    let mut script = worked(&store, "changed").await;
    let stale = script.deleting();
    script.say(vec![user("not yet")]).await;
    refused(&store, Commit { writes: vec![stale], ..Commit::default() }).await;
    script.check().await;
    assert_eq!(listed(&store, &recipient(RECIPIENT), 10).await, ["changed"]);
}

/// A conversation that does not exist, or was deleted, cannot be deleted.
pub async fn deleting_what_does_not_exist_conflicts(store: Arc<dyn Store>) {
    let commit = |write| Commit { writes: vec![write], ..Commit::default() };
    let unknown = Script::new(&store, "unknown").creating().after;
    refused(&store, commit(Write::Delete { before: unknown })).await;
    let mut script = worked(&store, "once").await;
    let again = script.deleting();
    script.delete().await;
    refused(&store, commit(again)).await;
}

/// One commit deletes a conversation, creates another, and moves the pointer.
pub async fn a_deletion_and_a_change_are_one_commit(store: Arc<dyn Store>) {
    let ann = recipient(RECIPIENT);
    let (mut old, mut new) = (worked(&store, "old").await, Script::new(&store, "new"));
    let stale = old.deleting();
    old.say(vec![user("and now")]).await;
    let pointers = vec![activating(&ann, "old")];
    store.commit(Commit { pointers, ..Commit::default() }).await.unwrap();

    let step = new.creating();
    let before = Some(ConversationId::new("old").unwrap());
    let pointer = PointerWrite { before, ..activating(&ann, "new") };
    let commit = |writes| Commit { writes, pointers: vec![pointer.clone()], ..Commit::default() };
    refused(&store, commit(vec![stale, step.write()])).await;
    new.check().await;
    old.check().await;
    store.commit(commit(vec![old.deleting(), step.write()])).await.unwrap();
    new.advance(&step);
    old.renew();
    new.check().await;
    old.check().await;
    assert_eq!(active(&store, &ann).await.as_deref(), Some("new"));
    assert_eq!(listed(&store, &ann, 10).await, ["new"]);
}

/// A deleted conversation's id can be used again, and nothing of the earlier conversation comes back.
pub async fn an_id_starts_anew_after_its_deletion(store: Arc<dyn Store>) {
    let mut script = worked(&store, "again").await;
    script.delete().await;
    script.say(vec![user("hello")]).await;
    script.say(users(12)).await;
    assert_eq!(script.archived_ids(&["id"]).await, BTreeMap::new());
}

/// A conversation with a window, an archive, a summary, ids and an expiry time.
async fn worked(store: &Arc<dyn Store>, id: &str) -> Script {
    let expire_after = Some(Duration::from_secs(60));
    let policy = Policy { utterances: Marks::with_keep(4, 2), expire_after, ..Policy::ROLLING };
    let mut script = Script::with(store, id, policy);
    script.say(vec![named("id", "hello")]).await;
    script.say(users(9)).await;
    script
}
