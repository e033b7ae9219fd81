//! The conversations that wait for a model, and since when.

use super::support::*;

/// Ten utterances leave once there are more than twenty, and a model should summarise them.
fn told() -> Policy {
    Policy { utterances: Marks::with_keep(20, 11), llm_summaries: Some(true), ..Policy::ROLLING }
}

/// A conversation with one segment that has been waiting since this many seconds after [`START`].
async fn waiting(store: &Arc<dyn Store>, id: &str, seconds: u64) -> Script {
    let mut script = Script::with(store, id, told());
    script.now = START.plus(Duration::from_secs(seconds));
    script.say(users(21)).await;
    assert_eq!(script.awaiting().len(), 1);
    script
}

/// The same conversation with a second segment, which has been waiting since 5 seconds later.
async fn waiting_twice(store: &Arc<dyn Store>, id: &str, seconds: u64) -> Script {
    let mut script = waiting(store, id, seconds).await;
    script.now = script.now.plus(Duration::from_secs(5));
    script.say(users(10)).await;
    assert_eq!(script.awaiting().len(), 2);
    script
}

/// Checks that exactly these conversations wait, each since this many seconds after [`START`], in this order.
async fn assert_waiting(store: &Arc<dyn Store>, expected: &[(&str, u64)]) {
    let expected: Vec<_> = expected.iter().map(|(id, seconds)| ((*id).to_owned(), *seconds)).collect();
    for limit in [1, 2, 100] {
        assert_eq!(listed(store, limit).await, expected, "{limit} at a time");
    }
    assert_eq!(store.waiting(None, 0).await, Ok(Vec::new()));
}

/// Returns all conversations that wait, read `limit` at a time.
async fn listed(store: &Arc<dyn Store>, limit: usize) -> Vec<(String, u64)> {
    let (mut all, mut after) = (Vec::new(), None);
    loop {
        let page = store.waiting(after, limit).await.expect("what waits is read");
        assert!(page.len() <= limit, "a page holds at most its limit");
        let Some(last) = page.last() else { return all };
        after = Some(last.clone());
        let seconds = |since: Timestamp| (since.0 - START.0) as u64 / 1_000_000;
        all.extend(page.into_iter().map(|(since, key)| (key.id.to_string(), seconds(since))));
    }
}

/// Segments do not wait while models are disabled; segments written after a model is enabled do.
pub async fn nothing_waits_without_a_model(store: Arc<dyn Store>) {
    let mut script = Script::with(&store, "plain", Policy { llm_summaries: Some(false), ..told() });
    script.say(users(21)).await;
    assert!(!script.state.summary.segments().is_empty());
    assert_waiting(&store, &[]).await;
    let asked = PolicyUpdate { llm_summaries: Some(true), ..PolicyUpdate::default() };
    script.limit(asked).await;
    script.now = START.plus(Duration::from_secs(3));
    script.say(users(20)).await;
    assert_waiting(&store, &[("plain", 3)]).await;
}

/// Conversations are ordered by the time since which they wait, then by id, not by their commits.
pub async fn what_waits_longest_comes_first(store: Arc<dyn Store>) {
    for (id, seconds) in [("b", 30), ("c", 20), ("ab", 40), ("a", 40), ("d", 20)] {
        waiting(&store, id, seconds).await;
    }
    assert_waiting(&store, &[("c", 20), ("d", 20), ("b", 30), ("a", 40), ("ab", 40)]).await;
    let mut other = Script::of(&store, identity(key_in("other", "c"), "bob"), told());
    other.now = START.plus(Duration::from_secs(10));
    other.say(users(21)).await;
    let first = store.waiting(None, 1).await.unwrap();
    assert_eq!(first, [(other.now, other.key().clone())]);
}

/// A page starts behind the last entry of the previous one, even if that conversation no longer waits or never
/// did.
pub async fn pages_go_on_behind_their_last(store: Arc<dyn Store>) {
    let mut scripts = Vec::new();
    for (id, seconds) in [("a", 10), ("b", 20), ("c", 20), ("d", 30)] {
        scripts.push(waiting(&store, id, seconds).await);
    }
    let behind = async |id: &str, seconds: u64| {
        let after = (START.plus(Duration::from_secs(seconds)), key(id));
        let page = store.waiting(Some(after), 10).await.expect("what waits is read");
        page.into_iter().map(|(_, ConversationKey { id, .. })| id.to_string()).collect::<Vec<_>>()
    };
    assert_eq!(behind("b", 20).await, ["c", "d"]);
    scripts[1].delete().await;
    assert_eq!(behind("b", 20).await, ["c", "d"]);
    assert_eq!(behind("a", 20).await, ["c", "d"]);
    assert_eq!(behind("bb", 20).await, ["c", "d"]);
    assert_eq!(behind("z", 5).await, ["a", "c", "d"]);
    assert!(behind("d", 30).await.is_empty());
}

/// A conversation waits as long as any of its segments does, since the first of these began to wait.
pub async fn what_a_model_told_waits_no_more(store: Arc<dyn Store>) {
    let mut script = waiting_twice(&store, "told", 1).await;
    assert_waiting(&store, &[("told", 1)]).await;
    let segments = script.awaiting();
    script.replace_by_llm(segments[0], "- codes").await;
    assert_waiting(&store, &[("told", 6)]).await;
    script.replace_by_llm(segments[1], "- more codes").await;
    assert_waiting(&store, &[]).await;
    script.say(vec![user("and more")]).await;
    assert_waiting(&store, &[]).await;
}

/// A segment that no model will summarise no longer waits.
pub async fn what_is_given_up_waits_no_more(store: Arc<dyn Store>) {
    let mut script = waiting_twice(&store, "given up", 1).await;
    let segments = script.awaiting();
    script.give_up(segments[1]).await;
    assert_waiting(&store, &[("given up", 1)]).await;
    script.give_up(segments[0]).await;
    assert_waiting(&store, &[]).await;
}

/// A segment into which others were folded waits since the first of them began to wait.
pub async fn what_was_folded_waits_since_its_first(store: Arc<dyn Store>) {
    let mut script = waiting_twice(&store, "folded", 1).await;
    let before = script.awaiting();
    let tokens = script.state.summary.tokens();
    let less = PolicyUpdate { summary_token_limit: Some(tokens - 1), ..PolicyUpdate::default() };
    script.now = script.now.plus(Duration::from_secs(5));
    script.limit(less).await;
    let folded = script.awaiting();
    assert!(folded.len() == 1 && !before.contains(&folded[0]));
    assert_waiting(&store, &[("folded", 1)]).await;
    script.replace_by_llm(folded[0], "- codes").await;
    assert_waiting(&store, &[]).await;
}

/// A segment whose utterances are all erased does not wait.
pub async fn what_is_forgotten_waits_no_more(store: Arc<dyn Store>) {
    let mut script = waiting_twice(&store, "forgotten", 1).await;
    assert!(script.forget("sequence:1-5", true).await);
    assert_waiting(&store, &[("forgotten", 1)]).await;
    assert!(script.forget("sequence:6-10", true).await);
    assert_waiting(&store, &[("forgotten", 6)]).await;
    assert!(script.forget("all", true).await);
    assert_waiting(&store, &[]).await;
}

/// An ended conversation waits for summaries like any other, and then waits for its closing.
pub async fn what_has_ended_waits_on(store: Arc<dyn Store>) {
    let mut script = waiting(&store, "ended", 1).await;
    script.now = script.now.plus(Duration::from_secs(5));
    script.end("done").await;
    assert_waiting(&store, &[("ended", 1)]).await;
    script.replace_by_llm(script.awaiting()[0], "- codes").await;
    assert_waiting(&store, &[("ended", 6)]).await;
    script.check().await;
    script.replace_closing("Codes").await;
    assert_waiting(&store, &[]).await;
    script.check().await;
    assert!(script.forget("sequence:7", true).await);
    assert_waiting(&store, &[("ended", 6)]).await;
    script.delete().await;
    assert_waiting(&store, &[]).await;
}

/// A fork has segments of its own, and waits for them no matter what happens to its parent.
pub async fn a_fork_waits_for_itself(store: Arc<dyn Store>) {
    let mut family = Family::of(&store, "parent", told());
    family.member("parent").say(users(21)).await;
    family.fork("parent", "fork").await;
    assert_waiting(&store, &[("fork", 0), ("parent", 0)]).await;
    let number = family.members["parent"].awaiting()[0];
    family.member("parent").replace_by_llm(number, "- codes").await;
    assert_waiting(&store, &[("fork", 0)]).await;
    family.delete(&["parent"]).await;
    assert_waiting(&store, &[("fork", 0)]).await;
    family.delete_all().await;
    assert_waiting(&store, &[]).await;
}

/// A deleted conversation does not wait, nor does a new one with its id.
pub async fn what_is_deleted_waits_no_more(store: Arc<dyn Store>) {
    let mut script = waiting(&store, "deleted", 1).await;
    let other = waiting(&store, "deleted!", 2).await;
    script.delete().await;
    assert_waiting(&store, &[("deleted!", 2)]).await;
    script.create().await;
    assert_waiting(&store, &[("deleted!", 2)]).await;
    other.check().await;
}

/// A refused commit neither starts nor ends a wait.
pub async fn a_commit_that_conflicts_changes_nothing(store: Arc<dyn Store>) {
    let mut script = waiting(&store, "first", 1).await;
    let stale = script.forgetting("all", true).await.expect("something is stored");
    script.say(vec![user("faster")]).await;
    refused(&store, stale.commit()).await;
    assert_waiting(&store, &[("first", 1)]).await;
    let mut plain = Script::with(&store, "plain", told());
    plain.say(users(1)).await;
    let stale = plain.saying(users(20)).await;
    plain.say(users(1)).await;
    refused(&store, stale.commit()).await;
    assert_waiting(&store, &[("first", 1)]).await;
}
