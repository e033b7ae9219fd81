//! Named values beside a conversation.

use std::sync::Arc;

use super::{
    family::Family,
    script::{Script, Step, users},
};
use crate::{
    domain::{
        Conversation, Policy, Verdict,
        change::Context,
        state::{StateChange, StateContent, StateValue, UpdateState, update_state},
    },
    store::{CommitError, Quota, Quotas, Store, StoreError},
};

/// Bytes and JSON, empty and large ones; by name, and all or some.
pub async fn values_are_kept_beside_a_conversation(store: Arc<dyn Store>) {
    let mut script = Script::new(&store, "kept");
    assert_eq!(values(&script, &[]).await, []);
    script.create().await;
    assert_eq!(values(&script, &[]).await, []);
    let large = "x".repeat(900_000);
    let set = [
        ("b", json("{\"a\":1}")),
        ("a", bytes(&[0, 255, 10])),
        ("é\u{10ffff}", json(&large)),
        ("empty", bytes(&[])),
    ];
    apply(&mut script, update(&set, &[])).await;
    let version = script.state.head.revision;
    let expected = ["a", "b", "empty", "é\u{10ffff}"];
    let kept = values(&script, &[]).await;
    assert_eq!(kept.iter().map(|value| &*value.name).collect::<Vec<_>>(), expected);
    for value in &kept {
        let (_, content) = set.iter().find(|(name, _)| **name == *value.name).unwrap();
        assert_eq!((&value.content, value.version), (content, version));
    }
    let some = values(&script, &["empty".into(), "missing".into(), "a".into()]).await;
    assert_eq!(some, [kept[0].clone(), kept[2].clone()]);
}

/// What a change does not name stays as it was, with its version.
pub async fn a_change_writes_what_it_names(store: Arc<dyn Store>) {
    let mut script = Script::new(&store, "changed");
    script.create().await;
    apply(&mut script, update(&[("a", json("1")), ("b", json("2")), ("c", json("3"))], &[])).await;
    let before = values(&script, &[]).await;
    script.say(users(30)).await;
    assert_eq!(values(&script, &[]).await, before, "what is said leaves it alone");
    apply(&mut script, update(&[("b", bytes(b"two"))], &["c", "missing"])).await;
    let after = values(&script, &[]).await;
    assert_eq!((after.len(), &after[0]), (2, &before[0]));
    assert_eq!((&after[1].content, after[1].version), (&bytes(b"two"), script.state.head.revision));
    let entries: Vec<_> = after.iter().map(|value| value.entry()).collect();
    assert_eq!(*script.state.head.state, *entries, "the head tells of them");
}

/// A fork has what its parent had; each changes and loses its own.
pub async fn a_fork_has_values_of_its_own(store: Arc<dyn Store>) {
    let mut family = Family::of(&store, "parent", Policy::ROLLING);
    family.member("parent").say(users(3)).await;
    apply(family.member("parent"), update(&[("a", json("1")), ("b", json("2"))], &[])).await;
    family.fork("parent", "fork").await;
    apply(family.member("parent"), update(&[("a", json("changed"))], &["b"])).await;
    let texts = |values: Vec<Arc<StateValue>>| -> Vec<String> {
        values.iter().map(|value| String::from_utf8_lossy(value.content.as_bytes()).into_owned()).collect()
    };
    assert_eq!(texts(values(family.member("fork"), &[]).await), ["1", "2"]);
    assert_eq!(texts(values(family.member("parent"), &[]).await), ["changed"]);
    family.member("parent").delete().await;
    assert_eq!(texts(values(family.member("fork"), &[]).await), ["1", "2"]);
}

/// With the conversation they go; one that starts under its name has none.
pub async fn values_go_with_their_conversation(store: Arc<dyn Store>) {
    let mut script = Script::new(&store, "gone");
    script.create().await;
    apply(&mut script, update(&[("a", json("1"))], &[])).await;
    script.delete().await;
    assert_eq!(values(&script, &[]).await, []);
    script.create().await;
    assert_eq!(values(&script, &[]).await, []);
    apply(&mut script, update(&[("a", json("2"))], &[])).await;
    assert_eq!(values(&script, &[]).await.len(), 1);
    store.scrub().await.unwrap();
    assert_eq!(values(&script, &[]).await.len(), 1);
}

/// Names and values count as what is said does.
pub async fn values_count_for_a_quota(store: Arc<dyn Store>) {
    let bytes_each = 1_000;
    let mut script = Script::new(&store, "counted");
    script.create().await;
    let bytes = Some(script.state.head.counted_bytes() + bytes_each);
    store.set_quotas(Quotas { conversations: None, bytes }).expect("quotas are kept");
    apply(&mut script, update(&[("a", json(&"1".repeat(999)))], &[])).await;
    assert_eq!(script.state.head.state_bytes(), bytes_each);
    let step = step(&script, &update(&[("b", json(&"1".repeat(2_000)))], &[])).await;
    let refused = store.commit(step.commit()).await;
    assert!(
        matches!(&refused, Err(CommitError::Store(StoreError::OverQuota(over))) if over.quota == Quota::Bytes),
        "{refused:?}"
    );
    apply(&mut script, update(&[], &["a"])).await;
    apply(&mut script, update(&[("b", json(&"1".repeat(999)))], &[])).await;
}

async fn values(script: &Script, names: &[Box<str>]) -> Vec<Arc<StateValue>> {
    script.store.state(script.key(), names).await.expect("a state is read")
}

async fn apply(script: &mut Script, update: UpdateState) {
    let step = step(script, &update).await;
    script.apply(&step).await;
}

async fn step(script: &Script, update: &UpdateState) -> Step {
    let rule = |before: &Conversation, context: &Context<'_>| {
        update_state(before, update, context).map(Verdict::Decided)
    };
    Step::of(&script.state, script.decide(rule).await)
}

fn update(set: &[(&str, StateContent)], delete: &[&str]) -> UpdateState {
    let change = StateChange {
        set: set.iter().map(|(name, content)| ((*name).into(), content.clone())).collect(),
        delete: delete.iter().map(|name| (*name).into()).collect(),
        versions: Vec::new(),
    };
    UpdateState { change, expected: None }
}

fn json(text: &str) -> StateContent {
    StateContent::Json(text.into())
}

fn bytes(bytes: &[u8]) -> StateContent {
    StateContent::Bytes(bytes.into())
}
