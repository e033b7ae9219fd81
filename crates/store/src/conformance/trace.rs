//! The events that are stored with commits.

use super::support::*;
use crate::{TracePage, TracePlace, Traced};

fn namespace() -> Namespace {
    Namespace::default()
}

fn traced(events: &[&str]) -> Option<Traced> {
    let events = events.iter().map(|event| (*event).to_owned()).collect();
    Some(Traced { namespace: namespace(), events })
}

/// Waits until there are `count` events behind a place; returns them, each with the place behind it.
async fn events(store: &Arc<dyn Store>, after: TracePlace, count: usize) -> Vec<(TracePlace, String)> {
    loop {
        match store.trace(&namespace(), after, 100).await {
            Ok(TracePage::Events(events)) if events.len() >= count => return events,
            // events appear once older transactions have ended
            Ok(TracePage::Events(_)) => tokio::task::yield_now().await,
            other => panic!("there is no trace: {other:?}"),
        }
    }
}

fn texts(events: &[(TracePlace, String)]) -> Vec<&str> {
    events.iter().map(|(_, text)| text.as_str()).collect()
}

/// Whether the store keeps events; if not, checks that its methods fail.
async fn keeps_events(store: &Arc<dyn Store>) -> bool {
    let end = store.trace_end(&namespace()).await;
    let page = store.trace(&namespace(), TracePlace::default(), 1).await;
    match store.capabilities().traced {
        true => end.is_ok(),
        false => {
            assert!(matches!(end, Err(StoreError::Unavailable(_))));
            assert!(matches!(page, Err(StoreError::Unavailable(_))));
            false
        }
    }
}

/// From any place, all events behind it are returned, in order, and nothing else.
pub async fn events_are_kept_in_order(store: Arc<dyn Store>) {
    if !keeps_events(&store).await {
        return;
    }
    let mut script = Script::new(&store, "c");
    let step = script.creating();
    let first = store.trace_end(&namespace()).await.expect("there is a trace");
    script.apply_in(Commit { traced: traced(&["before"]), ..step.commit() }, &step).await;
    assert_eq!(texts(&events(&store, first, 1).await), ["before"]);
    let start = store.trace_end(&namespace()).await.expect("there is a trace");
    for round in 0..5 {
        let step = script.saying(vec![user("hello")]).await;
        let (one, two) = (format!("{round} one"), format!("{round} two"));
        script.apply_in(Commit { traced: traced(&[&one, &two]), ..step.commit() }, &step).await;
    }
    let alone = Commit { traced: traced(&["alone"]), ..Commit::default() };
    store.commit(alone).await.expect("it requires nothing");
    let all = events(&store, start, 11).await;
    let expected: Vec<_> =
        (0..5).flat_map(|round| [format!("{round} one"), format!("{round} two")]).collect();
    assert_eq!(texts(&all)[..10], expected);
    assert_eq!(texts(&all)[10..], ["alone"]);
    for (seen, (place, _)) in (1..).zip(&all) {
        assert_eq!(events(&store, *place, 11 - seen).await, all[seen..], "behind {seen}");
    }
}

/// A refused commit leaves no events, the events of a deletion are kept, and each namespace has its own events.
pub async fn events_come_with_their_commits(store: Arc<dyn Store>) {
    if !keeps_events(&store).await {
        return;
    }
    let another = key_in("another", "c").namespace;
    let start = store.trace_end(&namespace()).await.expect("there is a trace");
    let elsewhere_start = store.trace_end(&another).await.expect("there is a trace");
    let mut script = Script::new(&store, "c");
    let stale = script.saying(vec![user("too late")]).await;
    script.create().await;
    let refused = store.commit(Commit { traced: traced(&["refused"]), ..stale.commit() }).await;
    refused.expect_err("the conversation exists");
    let elsewhere = Traced { namespace: another.clone(), events: vec!["elsewhere".to_owned()] };
    let elsewhere = Commit { traced: Some(elsewhere), ..Commit::default() };
    store.commit(elsewhere).await.expect("it requires nothing");
    let writes = vec![script.deleting()];
    store
        .commit(Commit { writes, traced: traced(&["deleted"]), ..Commit::default() })
        .await
        .expect("nobody else writes");
    assert_eq!(texts(&events(&store, start, 1).await), ["deleted"]);
    assert_eq!(store.trace(&another, start, 100).await, Ok(TracePage::Unknown));
    match store.trace(&another, elsewhere_start, 100).await {
        Ok(TracePage::Events(events)) => assert!(texts(&events).iter().all(|text| *text == "elsewhere")),
        other => panic!("there is no trace: {other:?}"),
    }
}

/// A place does not reveal how much was written before it, in this namespace or in others.
pub async fn places_tell_nothing(store: Arc<dyn Store>) {
    if !keeps_events(&store).await {
        return;
    }
    let mut places = Vec::new();
    for number in 0.. {
        let namespace = key_in(&format!("n{}", number % 2), "c").namespace;
        let alone = Traced { namespace, events: vec!["something".to_owned()] };
        store.commit(Commit { traced: Some(alone), ..Commit::default() }).await.expect("it requires nothing");
        let TracePlace(place) = store.trace_end(&self::namespace()).await.expect("there is a trace");
        places.push(u128::from_be_bytes(place));
        // the end moves once older transactions have ended
        places.dedup();
        if places.len() == 20 {
            break;
        }
    }
    let bits = places.windows(2).map(|two| (two[0] ^ two[1]).count_ones());
    assert!(bits.min() > Some(24), "{places:x?} are alike");
    assert!(!places.is_sorted(), "their order shows");
}
