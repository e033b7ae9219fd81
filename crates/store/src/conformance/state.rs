//! Named values stored with a conversation.

use super::support::*;
use utterd_domain::{
    change::Context,
    limits::MAX_ID_BYTES,
    state::{StateChange, StateContent, StateValue, UpdateState, update_state},
};

/// Values of bytes and of JSON, empty and large, are stored, and returned by name: all or some.
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

/// Values that a change does not name stay as they were, with their version.
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

/// A fork starts with its parent's values; afterwards, each changes and removes its own.
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

/// Values are removed with their conversation; a new one with its id has none.
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

/// Names and values count for a quota like texts.
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

/// A recipient's own state is in no list, does not count as a conversation for a quota, and can be deleted.
pub async fn a_recipients_own_state_is_no_conversation(store: Arc<dyn Store>) {
    store.set_quotas(Quotas { conversations: Some(1), bytes: None }).expect("quotas are kept");
    let longest = "x".repeat(MAX_ID_BYTES);
    let mut states = [own(&store, RECIPIENT), own(&store, "bob"), own(&store, &longest)];
    for state in &mut states {
        apply(state, update(&[("a", json("1"))], &[])).await;
    }
    Script::new(&store, "listed").create().await;
    let [state, others, _] = &mut states;
    apply(state, update(&[("a", json("2")), ("b", bytes(b"\0"))], &[])).await;
    assert_eq!(values(state, &[]).await.len(), 2);
    assert_eq!(values(others, &[]).await.len(), 1);
    let namespace = ListOf::Namespace(Namespace::default());
    for of in [namespace, ListOf::Recipient(recipient(RECIPIENT))] {
        for (by_update, id_prefix) in [(false, ""), (true, ""), (false, "\u{1}")] {
            let order = ListOrder { by_update, newest_first: true };
            let (of, id_prefix) = (of.clone(), id_prefix.into());
            let heads = store.list(List { of, id_prefix, order, after: None, limit: 9 }).await.unwrap();
            assert!(heads.iter().all(|head| head.identity.key == key("listed")), "{heads:?}");
        }
    }
    assert_eq!(active(&store, &recipient("bob")).await, None);
    assert_eq!(store.due(Timestamp(i64::MAX), 9).await.unwrap(), []);
    state.delete().await;
    assert_eq!(values(state, &[]).await, []);
    assert_eq!(values(others, &[]).await.len(), 1, "another recipient's stays");
    apply(state, update(&[("c", json("3"))], &[])).await;
    assert_eq!(values(state, &[]).await.len(), 1, "nothing of it is left");
}

/// One commit changes a recipient's own state and a conversation of the recipient, or neither.
pub async fn a_recipients_own_state_changes_with_a_conversation(store: Arc<dyn Store>) {
    let (mut script, mut state) = (Script::new(&store, "said"), own(&store, RECIPIENT));
    let (saying, setting) = (script.creating(), step(&state, &update(&[("a", json("1"))], &[])).await);
    let commit = Commit { writes: vec![saying.write(), setting.write()], ..Commit::default() };
    store.commit(commit.clone()).await.unwrap();
    script.advance(&saying);
    state.advance(&setting);
    script.check().await;
    state.check().await;
    refused(&store, commit).await;
    let saying = script.saying(users(1)).await;
    let stale = step(&own(&store, RECIPIENT), &update(&[("a", json("2"))], &[])).await;
    refused(&store, Commit { writes: vec![saying.write(), stale.write()], ..Commit::default() }).await;
    script.check().await;
    state.check().await;
}

/// The holder of a recipient's own state, before its first revision.
fn own(store: &Arc<dyn Store>, whose: &str) -> Script {
    let id = ConversationId::of_state(&recipient(whose).id);
    let key = ConversationKey { namespace: Namespace::default(), id };
    Script::of(store, identity(key, whose), Policy::SESSION)
}

async fn values(script: &Script, names: &[Box<str>]) -> Vec<Arc<StateValue>> {
    script.store.state(script.key(), names).await.expect("a state is read")
}

async fn apply(script: &mut Script, update: UpdateState) {
    let step = step(script, &update).await;
    script.apply(&step).await;
}

async fn step(script: &Script, update: &UpdateState) -> Step {
    let rule = |before: &Conversation, context: &Context<'_>| Ok(update_state(before, update, context)?);
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
