//! Nothing is visible under another key.

use super::support::*;

/// The same ids in two namespaces are two conversations, recipients and attempts.
pub async fn namespaces_share_nothing(store: Arc<dyn Store>) {
    let mut one = begun(&store, key_in("one", "same"), "ann", 9).await;
    let other = Script::of(&store, identity(key_in("other", "same"), "ann"), Policy::ROLLING);
    other.check().await;
    assert_eq!(active(&store, &other.recipient()).await, None);
    assert_eq!(listed(&store, &other.recipient(), 10).await, [""; 0]);
    assert_eq!(other.archived_ids(&["id"]).await, BTreeMap::new());
    assert_eq!(store.outcome(&attempt_of(&other), Timestamp(0)).await, Ok(None));

    let mut other = begun(&store, key_in("other", "same"), "ann", 12).await;
    one.check().await;
    one.delete().await;
    other.check().await;
    other.say(users(1)).await;
    assert_eq!(listed(&store, &other.recipient(), 10).await, ["same"]);
    assert_eq!(active(&store, &other.recipient()).await.as_deref(), Some("same"));
}

/// Ids that differ only in where one ends and the next begins, in case, in separators or in encoded
/// characters are different ids.
pub async fn ids_that_look_alike_are_kept_apart(store: Arc<dyn Store>) {
    let keys = [
        ("a", "b/c"),
        ("a/b", "c"),
        ("a", "b"),
        ("ab", "c"),
        ("a", "bc"),
        ("A", "b"),
        ("a", "b "),
        ("a", "b%2Fc"),
        ("a", "b:c"),
        ("a:b", "c"),
        ("a", "\u{e9}"),
        ("a", "e\u{301}"),
        ("a", "b\u{a0}"),
        ("a", "\u{10ffff}"),
    ];
    let mut scripts = Vec::new();
    for (count, (namespace, id)) in (1..).zip(keys) {
        scripts.push(begun(&store, key_in(namespace, id), id, 4 + count).await);
    }
    for script in &scripts {
        script.check().await;
        let recipient = script.recipient();
        let id = script.key().id.as_str();
        assert_eq!(listed(&store, &recipient, 10).await, [id]);
        assert_eq!(active(&store, &recipient).await.as_deref(), Some(id));
    }
    scripts.swap_remove(0).delete().await;
    for script in &scripts {
        script.check().await;
    }
}

/// Ids up to the maximum length are kept apart, wherever one ends and the next begins.
pub async fn the_longest_ids_are_kept(store: Arc<dyn Store>) {
    let mut scripts = Vec::new();
    for namespace in [1, 128, 254, 255, 256] {
        for id in [127, 254, 255, 256] {
            let (namespace, id) = ("n".repeat(namespace), "n".repeat(id));
            scripts.push(begun(&store, key_in(&namespace, &id), &id, 5).await);
        }
    }
    for script in &scripts {
        script.check().await;
        let id = script.key().id.as_str();
        assert_eq!(listed(&store, &script.recipient(), 1).await, [id]);
        assert_eq!(active(&store, &script.recipient()).await.as_deref(), Some(id));
        assert!(store.outcome(&attempt_of(script), Timestamp(0)).await.unwrap().is_some());
    }
    let (kept, gone) = scripts.split_at_mut(10);
    for script in gone {
        script.delete().await;
    }
    for script in kept {
        script.check().await;
    }
    let long = "u".repeat(256);
    let mut script = Script::new(&store, &long);
    script.say(vec![named(&long, "hello")]).await;
    script.say(users(30)).await;
    assert_eq!(script.archived_ids(&[&long, &long[1..]]).await, BTreeMap::from([(long, 1)]));
}

/// A conversation with this many utterances, some of them archived; it is active and has an outcome.
async fn begun(store: &Arc<dyn Store>, key: ConversationKey, recipient: &str, count: usize) -> Script {
    let policy = Policy { utterances: Marks::with_keep(3, 2), ..Policy::ROLLING };
    let mut script = Script::of(store, identity(key, recipient), policy);
    let mut drafts = users(count);
    drafts[0] = named("id", "hello");
    let step = script.saying(drafts).await;
    let kept = outcome(&step.after, Timestamp(count as i64));
    let commit = Commit {
        pointers: vec![activating(&script.recipient(), script.key().id.as_str())],
        outcomes: vec![(attempt_of(&script), kept)],
        ..step.commit()
    };
    script.apply_in(commit, &step).await;
    script
}

/// An attempt with the conversation's id as its request id.
fn attempt_of(script: &Script) -> OutcomeKey {
    let key = script.key();
    OutcomeKey { namespace: key.namespace.clone(), ..attempt(key.id.as_str()) }
}
