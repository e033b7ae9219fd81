//! States are loaded as they were committed.

use super::support::*;
use utterd_domain::{Draft, More, Oversize, ToolCall};

/// Nothing is loaded for a conversation that was never committed.
pub async fn nothing_is_loaded_of_an_unknown_conversation(store: Arc<dyn Store>) {
    assert_eq!(store.load(&key("unknown")).await, Ok(None));
    Script::new(&store, "known").create().await;
    assert_eq!(store.load(&key("unknown")).await, Ok(None));
}

/// A conversation can exist before anything is said in it.
pub async fn a_conversation_without_utterances_is_kept(store: Arc<dyn Store>) {
    let mut script = Script::new(&store, "fresh");
    script.create().await;
    script.say(vec![user("hello")]).await;
}

/// Each field of an utterance is returned as it was given, including unusual ones.
pub async fn every_part_of_an_utterance_is_kept(store: Arc<dyn Store>) {
    let mut script = Script::new(&store, "parts");
    script.say(vec![said(Role::System, "Be brief.")]).await;
    script.say(vec![full_user()]).await;
    let mut calls = full_call();
    calls.pinned = true;
    script.say(vec![calls, result("a", "one"), result("b", "")]).await;
    let more = More { awaits_answer: true, ..More::default() };
    script.say(vec![Draft { more: Some(Box::new(more)), ..said(Role::Assistant, "Which one?") }]).await;
    let text = "\u{0}\r\n\t\u{7f}\u{feff}\u{10ffff} \u{1f469}\u{200d}\u{1f680} e\u{301} \u{5d0}\u{5d1}";
    script.say(vec![Draft { turn: Some(i32::MAX as u32), ..user(text) }]).await;
    script.check().await;
}

fn full_user() -> Draft {
    let metadata = BTreeMap::from([("k".to_owned(), String::new()), ("é\n".to_owned(), "\u{0}".to_owned())]);
    let more = More { name: Some("Ann Ó".into()), metadata, ..More::default() };
    Draft {
        turn: Some(7),
        create_time: Some(Timestamp(-62_135_596_800_000_000)),
        more: Some(Box::new(more)),
        ..named("of/the client:1", "Find both.")
    }
}

fn full_call() -> Draft {
    let call = |id: &str, name: &str, arguments: &str| ToolCall {
        id: id.into(),
        name: name.into(),
        arguments_json: arguments.into(),
    };
    let more = More {
        tool_calls: vec![call("a", "find", "{\"q\": \"x\"}"), call("b", "find_more", "")],
        tools_used: vec!["find".into(), "sort".into()],
        extras_json: Some("{\"reasoning\":[1,2]}".into()),
        extras_tokens: 31,
        ..More::default()
    };
    Draft { more: Some(Box::new(more)), ..said(Role::Assistant, "") }
}

/// Tool calls that wait for results are stored, in order, and so is the state after each result.
pub async fn an_open_exchange_is_kept(store: Arc<dyn Store>) {
    let mut script = Script::new(&store, "open");
    script.say(vec![user("go"), call("a"), call("b"), call("a")]).await;
    assert_eq!(script.state.head.open.as_ref().map(|open| open.calls.len()), Some(3));
    script.say(vec![result("a", "1")]).await;
    script.say(vec![result("b", "2")]).await;
    script.say(vec![user("never mind")]).await;
    assert_eq!(script.state.head.open, None);
}

/// Title, labels and every limit are stored, and so are their changes.
pub async fn the_head_is_kept(store: Arc<dyn Store>) {
    let policy = Policy {
        utterances: Marks::with_keep(u32::MAX, 3),
        tokens: Some(Marks::of(900)),
        turns: Marks::with_keep(7, 7),
        summarization_enabled: false,
        summary_token_limit: None,
        oversize: Oversize::Reject,
        archive_limit: 0,
        expire_after: Some(Duration::from_micros(1_000_001)),
        llm_summaries: Some(true),
        summary_model: Some("m".into()),
    };
    let mut script = Script::with(&store, "head", policy);
    script.create().await;
    script.now = script.now.plus(Duration::from_micros(1));
    let labels = (0..64).map(|number| (format!("key {number}"), "value".repeat(number)));
    let update = Update { labels: Some(labels.collect()), title: Some(None), ..Update::default() };
    script.update(update).await;
    let unlimited = PolicyUpdate { preset: Some(Policy::SESSION), ..PolicyUpdate::default() };
    let update = Update { policy: Some(unlimited), title: Some(Some("Ö".into())), ..Update::default() };
    script.update(update).await;
    script.say(vec![said(Role::System, "Be brief."), user("Yes.")]).await;
}

/// Shares are stored with their digests and times, survive other changes, and are removed when revoked.
pub async fn shares_are_kept(store: Arc<dyn Store>) {
    let mut script = Script::new(&store, "shared");
    script.create().await;
    script.share(1, Duration::from_secs(60), false).await;
    script.share(2, Duration::from_micros(1), true).await;
    assert_eq!(script.state.head.shares.len(), 2);
    script.now = script.now.plus(Duration::from_micros(1));
    script.say(vec![user("hello")]).await;
    assert_eq!(script.state.head.shares.len(), 1, "what expired went with the change");
    script.update(Update { title: Some(None), labels: Some(BTreeMap::new()), ..Update::default() }).await;
    script.revoke(1).await;
    assert!(script.state.head.shares.is_empty());
    script.delete().await;
    script.create().await;
}

/// The largest utterance, 1 MiB of text beside 15 MiB of extras, is stored, in the window and in the archive.
pub async fn a_large_text_is_kept(store: Arc<dyn Store>) {
    let policy = Policy { utterances: Marks::with_keep(1, 1), tokens: None, ..Policy::ROLLING };
    let mut script = Script::with(&store, "large", policy);
    let extras = format!("{{\"picture\":\"{}\"}}", "A".repeat((15 << 20) - 14));
    let more = More { extras_json: Some(extras.into()), ..More::default() };
    script.say(vec![Draft::of(Role::User, "All work and no play. ".repeat(47_662), more)]).await;
    let step = script.say(vec![user("short")]).await;
    assert_eq!(step.change.evicted.len(), 1);
}

/// Segments keep their numbers, levels, coverage and sentences, even if they are folded, rebuilt and removed.
pub async fn a_summary_is_kept_with_its_segments(store: Arc<dyn Store>) {
    let policy =
        Policy { utterances: Marks::with_keep(4, 2), summary_token_limit: Some(60), ..Policy::ROLLING };
    let mut script = Script::with(&store, "summary", policy);
    for draft in users(40) {
        script.say(vec![draft]).await;
    }
    let levels = |script: &Script| script.state.summary.segments().iter().map(|segment| segment.level).max();
    assert!(levels(&script) > Some(0), "the segments were folded");
    assert!(script.forget("sequence:1-30", true).await);
    let off = PolicyUpdate { summary_token_limit: Some(1), ..PolicyUpdate::default() };
    script.limit(off).await;
    assert!(script.forget("all", true).await);
    assert!(script.state.summary.segments().is_empty());
}

/// The capabilities have a name and do not change.
pub async fn the_capabilities_name_the_backend(store: Arc<dyn Store>) {
    let before = store.capabilities();
    assert!(!before.name.is_empty());
    Script::new(&store, "any").create().await;
    assert_eq!(store.capabilities(), before);
}
