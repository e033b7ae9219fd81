//! Conversations that end, and the lists of them.

use super::support::*;

async fn beyond(store: &Arc<dyn Store>, recipient: &RecipientKey, keep: usize, limit: usize) -> Vec<String> {
    let ids = store.ended_beyond(recipient, keep, limit).await.expect("a list is read");
    ids.iter().map(ToString::to_string).collect()
}

/// Conversations with these ids, each ended a minute after the previous one.
async fn ended(store: &Arc<dyn Store>, ids: &[&str]) -> Vec<Script> {
    let mut scripts = Vec::new();
    for (index, id) in ids.iter().enumerate() {
        let mut script = Script::new(store, id);
        script.say(vec![user("I need a flight to Oslo.")]).await;
        script.now = script.now.plus(Duration::from_secs(60 * index as u64));
        script.end("done").await;
        scripts.push(script);
    }
    scripts
}

/// An ended conversation is loaded with its ending, also in the list.
pub async fn an_ending_is_kept(store: Arc<dyn Store>) {
    let mut script = Script::new(&store, "talk");
    script.say(vec![user("I need a flight to Oslo.")]).await;
    script.end("task completed").await;
    let heads = store.list(crate::List::newest(&script.recipient(), 9)).await.expect("a list is read");
    assert_eq!(heads, vec![script.state.head.clone()]);
    assert!(heads[0].ended.is_some());
    script.forget("all", true).await;
}

/// Ended conversations are listed except the `keep` that ended last; the earliest end comes first.
pub async fn what_ended_first_is_listed_first(store: Arc<dyn Store>) {
    let scripts = ended(&store, &["c", "a", "b"]).await;
    Script::new(&store, "open").create().await;
    let recipient = scripts[0].recipient();
    assert_eq!(beyond(&store, &recipient, 0, 9).await, ["c", "a", "b"]);
    assert_eq!(beyond(&store, &recipient, 1, 9).await, ["c", "a"]);
    assert_eq!(beyond(&store, &recipient, 1, 1).await, ["c"]);
    assert_eq!(beyond(&store, &recipient, 3, 9).await, Vec::<String>::new());
    assert_eq!(beyond(&store, &values::recipient("bob"), 0, 9).await, Vec::<String>::new());
}

/// A deleted conversation is not among the ended ones, and neither is a new one with its id.
pub async fn what_is_deleted_has_not_ended(store: Arc<dyn Store>) {
    let mut scripts = ended(&store, &["a", "b"]).await;
    let recipient = scripts[0].recipient();
    scripts[0].delete().await;
    assert_eq!(beyond(&store, &recipient, 0, 9).await, ["b"]);
    scripts[0].create().await;
    assert_eq!(beyond(&store, &recipient, 0, 9).await, ["b"]);
}

/// One commit ends a conversation, starts the next one, and moves the pointer: all or nothing.
pub async fn a_rollover_is_one_commit(store: Arc<dyn Store>) {
    let mut old = Script::new(&store, "old");
    let recipient = old.recipient();
    let first = old.saying(vec![user("Hello.")]).await;
    let commit = Commit { pointers: vec![activating(&recipient, "old")], ..first.commit() };
    old.apply_in(commit, &first).await;

    let mut new = Script::new(&store, "new");
    let (end, start) = (old.ending("idle timeout"), new.saying(vec![user("I am back.")]).await);
    let pointer =
        |before: &str| PointerWrite { before: Some(key(before).id), ..activating(&recipient, "new") };
    let rollover = |before| Commit {
        writes: vec![end.write(), start.write()],
        pointers: vec![pointer(before)],
        ..Commit::default()
    };
    refused(&store, rollover("another")).await;
    old.check().await;
    new.check().await;

    store.commit(rollover("old")).await.expect("it is the active one");
    old.advance(&end);
    new.advance(&start);
    old.check().await;
    new.check().await;
    assert_eq!(active(&store, &recipient).await.as_deref(), Some("new"));
    assert_eq!(beyond(&store, &recipient, 0, 9).await, ["old"]);
    refused(&store, rollover("new")).await;
}
