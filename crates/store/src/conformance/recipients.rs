//! A recipient's active conversation, and the list of all its conversations.

use super::support::*;
use crate::List;

/// An unknown recipient has no active conversation and an empty list.
pub async fn a_recipient_without_conversations_has_none(store: Arc<dyn Store>) {
    Script::new(&store, "another's").create().await;
    assert_eq!(active(&store, &recipient("nobody")).await, None);
    assert_eq!(listed(&store, &recipient("nobody"), 10).await, [""; 0]);
}

/// A pointer is set together with its conversation, moved, and removed.
pub async fn the_active_conversation_moves(store: Arc<dyn Store>) {
    let ann = recipient(RECIPIENT);
    for (id, before) in [("one", None), ("two", Some("one"))] {
        let mut script = Script::new(&store, id);
        let step = script.creating();
        let pointers = vec![PointerWrite { before: before.map(id_of), ..activating(&ann, id) }];
        script.apply_in(Commit { pointers, ..step.commit() }, &step).await;
        assert_eq!(active(&store, &ann).await.as_deref(), Some(id));
    }
    let gone = PointerWrite { recipient: ann.clone(), before: Some(id_of("two")), after: None };
    store.commit(Commit { pointers: vec![gone], ..Commit::default() }).await.unwrap();
    assert_eq!(active(&store, &ann).await, None);
}

/// A commit can consist of a moved pointer, whose previous value must be as expected.
pub async fn a_pointer_moves_without_a_write(store: Arc<dyn Store>) {
    let ann = recipient(RECIPIENT);
    let moving = |before: Option<&str>, after: &str| Commit {
        pointers: vec![PointerWrite { before: before.map(id_of), ..activating(&ann, after) }],
        ..Commit::default()
    };
    refused(&store, moving(Some("one"), "two")).await;
    store.commit(moving(None, "one")).await.unwrap();
    refused(&store, moving(None, "two")).await;
    refused(&store, moving(Some("two"), "three")).await;
    store.commit(moving(Some("one"), "two")).await.unwrap();
    assert_eq!(active(&store, &ann).await.as_deref(), Some("two"));
    assert_eq!(active(&store, &recipient("bob")).await, None);
}

/// Conversations are ordered by their starts, no matter when they changed.
pub async fn conversations_are_listed_the_newest_first(store: Arc<dyn Store>) {
    for (id, minutes) in [("noon", 0), ("later", 7), ("early", -30), ("late", 90)] {
        starting(&store, id, RECIPIENT, 60 * minutes).await;
    }
    starting(&store, "another's", "bob", 60 * 5).await;
    let mut early = starting(&store, "earliest", RECIPIENT, -60 * 31).await;
    early.say(users(2)).await;
    let expected = ["late", "later", "noon", "early", "earliest"];
    assert_eq!(listed(&store, &recipient(RECIPIENT), 10).await, expected);
    assert_eq!(listed(&store, &recipient("bob"), 10).await, ["another's"]);
}

/// Conversations that started at the same time have a fixed order.
pub async fn equal_starts_are_listed_by_descending_id(store: Arc<dyn Store>) {
    for id in ["b", "a", "aa", "c", "B"] {
        starting(&store, id, RECIPIENT, 0).await;
    }
    assert_eq!(listed(&store, &recipient(RECIPIENT), 10).await, ["c", "b", "aa", "a", "B"]);
}

/// Pages of any size contain each conversation once.
pub async fn pages_cover_a_list_once(store: Arc<dyn Store>) {
    for number in 0..10 {
        starting(&store, &format!("c{number}"), RECIPIENT, number / 3 * 60).await;
    }
    let ann = recipient(RECIPIENT);
    let all = listed(&store, &ann, 100).await;
    assert_eq!(all.len(), 10);
    for limit in [1, 2, 3, 7, 10] {
        assert_eq!(listed(&store, &ann, limit).await, all, "in pages of {limit}");
    }
}

/// A page starts behind a place, whether or not its conversation still exists.
pub async fn a_page_starts_behind_what_was_deleted(store: Arc<dyn Store>) {
    let mut scripts = Vec::new();
    for number in 0..5 {
        scripts.push(starting(&store, &format!("c{number}"), RECIPIENT, 60 * number).await);
    }
    scripts[3].delete().await;
    let after = Some((scripts[3].state.head.identity.start_time.plus(minutes(3)), id_of("c3")));
    let list = List { after, ..List::newest(&recipient(RECIPIENT), 10) };
    let page = store.list(list).await.unwrap();
    let ids: Vec<_> = page.iter().map(|head| head.identity.key.id.as_str()).collect();
    assert_eq!(ids, ["c2", "c1", "c0"]);
    assert_eq!(listed(&store, &recipient(RECIPIENT), 2).await, ["c4", "c2", "c1", "c0"]);
}

/// A list contains each conversation's head as it was last committed.
pub async fn lists_hold_the_newest_heads(store: Arc<dyn Store>) {
    let mut script = starting(&store, "busy", RECIPIENT, 0).await;
    for drafts in [users(3), users(30)] {
        script.say(drafts).await;
        let heads = store.list(List::newest(&recipient(RECIPIENT), 10)).await.unwrap();
        assert_eq!(heads, [script.state.head.clone()]);
    }
}

/// Once the last conversation and the pointer of a recipient are removed, nothing keyed by the recipient
/// remains.
pub async fn a_recipient_leaves_nothing_behind(store: Arc<dyn Store>) {
    let ann = recipient(RECIPIENT);
    let expire_after = Some(Duration::from_secs(60));
    let policy = Policy { expire_after, ..Policy::ROLLING };
    for id in ["ended", "active"] {
        let mut script = Script::with(&store, id, policy.clone());
        script.say(users(30)).await;
        if id == "ended" {
            script.end("done").await;
            script.share(1, Duration::from_secs(60), true).await;
            script.delete().await;
            continue;
        }
        let pointers = vec![activating(&ann, id)];
        store.commit(Commit { pointers, ..Commit::default() }).await.unwrap();
        let pointer = PointerWrite { recipient: ann.clone(), before: Some(id_of(id)), after: None };
        let commit = Commit { writes: vec![script.deleting()], pointers: vec![pointer], ..Commit::default() };
        store.commit(commit).await.unwrap();
    }
    assert_eq!(active(&store, &ann).await, None);
    assert_eq!(listed(&store, &ann, 10).await, [""; 0]);
    assert_eq!(store.ended_beyond(&ann, 0, 10).await, Ok(Vec::new()));
    assert_eq!(store.due(START.plus(Duration::from_secs(3_600)), 10).await, Ok(Vec::new()));
}

fn id_of(id: &str) -> ConversationId {
    ConversationId::new(id).unwrap()
}

fn minutes(count: u64) -> Duration {
    Duration::from_secs(60 * count)
}
