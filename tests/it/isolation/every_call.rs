//! Every call with the names of Anna's things.

use std::collections::BTreeSet;

use futures::FutureExt;

use crate::{
    isolation::{
        anna, cases,
        watched::Watched,
        world::{World, other},
    },
    support::{model::Model, prelude::*, session::settle, wire::methods},
};

/// Ids created after Anna moved in count from here, also in the world without her.
const LATER: u64 = 1_000_000;

#[tokio::test]
async fn no_call_is_without_a_case() {
    let world = World::over(Watched::new(), None).await;
    let names = anna::moves_in(&world).await;
    let called: BTreeSet<&str> = cases::all(&names).iter().map(|case| case.method).collect();
    let methods = methods();
    let missing: Vec<_> = methods.iter().filter(|method| !called.contains(method.name())).collect();
    assert!(missing.is_empty(), "add to tests/it/isolation/cases what these answer to others: {missing:#?}");
    assert!(methods.len() > 30, "{} methods", methods.len());
}

/// Whatever others call, they get the same responses as without Anna; she is notified of nothing, and still
/// has everything.
#[tokio::test]
async fn others_are_answered_as_if_nobody_else_were_there() {
    let (store, model) = (|| Arc::new(MemoryStore::new(0)), Model::new());
    let inhabited = World::over(store(), Some(model.clone())).await;
    let empty = World::over(store(), Some(Model::new())).await;
    let names = anna::moves_in(&inhabited).await;
    let _unanswered = model.called().await;
    let before = anna::sees(&inhabited).await;
    let told = inhabited.cursor("anna");
    let mut watches = Vec::new();
    for (name, message) in [
        ("WatchEvents", json!({"after_event": told})),
        ("WatchCapacity", json!({"conversation_id": "anna-talk"})),
        ("WatchCapacity", json!({"recipient_id": "default"})),
    ] {
        let mut watch = inhabited.watch("anna", name, &message).await;
        watch.message().await.unwrap().expect("it begins");
        watches.push((name, watch));
    }
    let told = inhabited.cursor("anna");
    for world in [&inhabited, &empty] {
        world.count_from(LATER);
    }
    let mut differences = Vec::new();
    for (number, case) in cases::all(&names).iter().enumerate() {
        let namespace = other(number);
        let mut answers = Vec::new();
        for world in [&inhabited, &empty] {
            world.furnish(&namespace).await;
            answers.push(world.call(&namespace, case.method, &case.messages).await);
        }
        if answers[0] != answers[1] || answers[0].code != case.code {
            differences.push(format!("{} {:?} {:?}: {answers:#?}", case.method, case.code, case.messages));
        }
    }
    assert!(differences.is_empty(), "{} differ: {}", differences.len(), differences.join("\n"));
    settle().await;
    assert_eq!(inhabited.cursor("anna"), told, "no event of hers");
    for (name, mut watch) in watches {
        // the initial events of her own watches come first
        let more = std::iter::from_fn(|| watch.message().now_or_never()).count();
        assert_eq!(more, if name == "WatchEvents" { 2 } else { 0 }, "{name}");
    }
    for (before, after) in before.into_iter().zip(anna::sees(&inhabited).await) {
        assert_eq!(before, after);
    }
}

/// Another namespace's id is looked up like one that does not exist: under a key of the caller's namespace,
/// and no other.
#[tokio::test]
async fn the_store_is_asked_of_the_callers_namespace_alone() {
    let store = Watched::new();
    let world = World::over(store.clone(), None).await;
    let names = anna::moves_in(&world).await;
    assert_eq!(store.named(), BTreeSet::from(["anna".to_owned()]));
    let mut strangers = Vec::new();
    for (number, case) in cases::all(&names).iter().enumerate() {
        let namespace = other(number);
        world.furnish(&namespace).await;
        settle().await;
        store.named();
        world.call(&namespace, case.method, &case.messages).await;
        settle().await;
        let named = store.named();
        // a share is read in the namespace that its token names, whoever calls
        let may_name = |name: &String| *name == namespace || case.method == "ReadShared" && name == "anna";
        if !named.iter().all(may_name) {
            strangers.push(format!("{} {:?}: {named:?}", case.method, case.messages));
        }
    }
    assert!(strangers.is_empty(), "{}", strangers.join("\n"));
}
