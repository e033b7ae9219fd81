//! Utterances that left the window are in the archive, as long as they are stored.

use super::support::*;

/// More than four utterances are evicted down to two.
fn rolling() -> Policy {
    Policy { utterances: Marks::with_keep(4, 2), ..Policy::ROLLING }
}

/// A conversation of twelve utterances, of which at least the first eight are archived.
async fn short(store: &Arc<dyn Store>) -> Script {
    let mut script = Script::with(store, "short", rolling());
    for draft in users(12) {
        script.say(vec![draft]).await;
    }
    assert!(script.state.head.archived.count() >= 8);
    script
}

/// Evicted utterances move from the window to the archive, in one batch or one by one.
pub async fn what_is_evicted_is_archived(store: Arc<dyn Store>) {
    let script = short(&store).await;
    assert_eq!(script.archived(&script.state.head.archived).await.len() + script.state.window.len(), 12);
    let mut batch = Script::with(&store, "batch", rolling());
    let step = batch.say(users(12)).await;
    assert_eq!(step.change.evicted.len(), 10);
}

/// Ranges with gaps, or beyond the archive, return the archived utterances in them, ascending.
pub async fn only_what_is_wanted_is_answered(store: Arc<dyn Store>) {
    let script = short(&store).await;
    let mut wanted: Ranges = [1, 4, 6].map(Sequence).into_iter().collect();
    wanted.insert(Sequence(8), Sequence(u64::MAX - 1));
    let found: Vec<_> = script.archived(&wanted).await.iter().map(|u| u.sequence.get()).collect();
    let archived = script.state.head.archived.sequences().map(Sequence::get);
    let expected: Vec<_> =
        archived.filter(|sequence| [1, 4, 6].contains(sequence) || *sequence >= 8).collect();
    assert_eq!(found, expected);
    assert!(script.archived(&Ranges::new()).await.is_empty());
}

/// Nothing is archived for a conversation that does not exist.
pub async fn nothing_is_archived_of_an_unknown_conversation(store: Arc<dyn Store>) {
    let script = short(&store).await;
    let all = Ranges::of(Sequence(1), Sequence(100));
    assert_eq!(store.archived(&key("unknown"), &all).await, Ok(Vec::new()));
    assert_eq!(store.archived_ids(&key("unknown"), &["1".into()]).await.unwrap().len(), 0);
    script.check().await;
}

/// Utterances beyond the archive limit are removed, the oldest first. A smaller limit takes effect immediately.
pub async fn what_is_trimmed_is_gone(store: Arc<dyn Store>) {
    let mut script = Script::with(&store, "trimmed", Policy { archive_limit: 20, ..rolling() });
    for draft in users(40) {
        script.say(vec![draft]).await;
    }
    assert!(script.archived(&Ranges::of(Sequence(1), Sequence(10))).await.is_empty());
    let smaller = PolicyUpdate { archive_limit: Some(3), ..PolicyUpdate::default() };
    script.limit(smaller).await;
    assert!(script.state.head.archived.count() <= 3);
}

/// With a limit of 0, evicted utterances are not stored anywhere, even if the same batch appended them.
pub async fn a_limit_of_0_keeps_nothing(store: Arc<dyn Store>) {
    let mut script = Script::with(&store, "nothing", Policy { archive_limit: 0, ..rolling() });
    let step = script.say(users(9)).await;
    assert_eq!(step.change.dropped.count(), 7);
    let mut drafts = users(4);
    drafts[0].id = Some("brief".into());
    script.say(drafts).await;
    assert_eq!(script.archived_ids(&["brief"]).await, BTreeMap::new());
}

/// Soft-forgotten utterances are stored with their mark, in place.
pub async fn a_soft_forget_rewrites_window_and_archive(store: Arc<dyn Store>) {
    let mut script = short(&store).await;
    assert!(script.forget("sequence:3-5", false).await);
    assert!(script.forget("newest", false).await);
    assert!(script.forget("all", false).await);
    assert!(script.stored().all(|utterance| utterance.forgotten));
}

/// Restored utterances are live again, in place.
pub async fn a_restore_rewrites_window_and_archive(store: Arc<dyn Store>) {
    let mut script = short(&store).await;
    assert!(script.forget("all", false).await);
    assert!(script.restore(&[12, 2]).await);
    let live: Vec<_> = script.stored().filter(|u| u.is_live()).map(|u| u.sequence.get()).collect();
    assert_eq!(live, [2, 12]);
}

/// A pin and metadata are stored for utterances in the window and in the archive.
pub async fn a_pin_rewrites_window_and_archive(store: Arc<dyn Store>) {
    let mut script = short(&store).await;
    assert!(script.mark(2, true, "in the archive").await);
    assert!(script.mark(12, true, "in the window").await);
    script.say(users(6)).await;
    assert!(script.state.window.get(Sequence(12)).is_some(), "what is pinned stays");
    assert!(script.mark(12, false, "it may leave").await);
    assert!(script.mark(2, false, "again").await);
}

/// An utterance that one change both appends and rewrites is stored as rewritten.
pub async fn what_is_pinned_with_its_batch_is_kept_pinned(store: Arc<dyn Store>) {
    let mut script = Script::with(&store, "pinned", rolling());
    let mut answer = result("a", "done");
    answer.pinned = true;
    let step = script.say(vec![user("go"), call("a"), answer]).await;
    assert!(step.change.rewritten.iter().any(|utterance| utterance.sequence == Sequence(2)));
    script.say(users(5)).await;
    assert!(script.state.window.get(Sequence(2)).is_some_and(|utterance| utterance.pinned));
}

/// Hard-forgotten utterances are removed from window and archive.
pub async fn what_is_erased_is_gone(store: Arc<dyn Store>) {
    let mut script = short(&store).await;
    assert!(script.forget("sequence:2-4", true).await);
    assert!(script.forget("newest", true).await);
    script.say(users(3)).await;
    assert!(script.forget("all", true).await);
    assert_eq!(script.state.head.stored, 0);
    script.say(users(2)).await;
}

/// Ids that clients gave are found in the archive if their utterances are archived, and only then.
pub async fn ids_are_found_in_the_archive_only(store: Arc<dyn Store>) {
    let mut script = Script::with(&store, "ids", rolling());
    for number in 1..=8 {
        script.say(vec![named(&format!("id/{number}"), "hello")]).await;
    }
    let archived = script.state.head.archived.last().map_or(0, Sequence::get);
    let ids: Vec<_> = (0..=9).map(|number| format!("id/{number}")).collect();
    let ids: Vec<_> = ids.iter().map(String::as_str).collect();
    let expected = (1..=archived).map(|number| (format!("id/{number}"), number)).collect();
    assert_eq!(script.archived_ids(&ids).await, expected);
    assert_eq!(script.archived_ids(&[]).await, BTreeMap::new());
}

/// The id of a removed utterance is no longer found, and can be given again.
pub async fn ids_of_what_is_gone_are_free(store: Arc<dyn Store>) {
    let mut script = Script::with(&store, "free", Policy { archive_limit: 4, ..rolling() });
    for number in 1..=12 {
        script.say(vec![named(&format!("id {number}"), "hello")]).await;
    }
    assert_eq!(script.archived_ids(&["id 1"]).await, BTreeMap::new(), "it was trimmed");
    let last = script.state.head.archived.last().map_or(0, Sequence::get);
    let id = format!("id {last}");
    assert_eq!(script.archived_ids(&[&id]).await.len(), 1);
    assert!(script.forget(&format!("sequence:{last}"), true).await);
    assert_eq!(script.archived_ids(&[&id]).await, BTreeMap::new(), "it was erased");
    let again = script.say(vec![named(&id, "again")]).await.change.appended[0].sequence.get();
    script.say(users(3)).await;
    assert_eq!(script.archived_ids(&[&id]).await, BTreeMap::from([(id.clone(), again)]));
}

/// One commit erases the utterance with an id, and evicts a new one with the same id.
pub async fn an_id_is_given_again_by_the_commit_that_frees_it(store: Arc<dyn Store>) {
    let mut script = Script::with(&store, "again", rolling());
    for number in 1..=8 {
        script.say(vec![named(&format!("id {number}"), "hello")]).await;
    }
    let drafts = [vec![named("id 1", "again")], users(5)].concat();
    script.replace(Sequence(0), drafts).await;
    assert_eq!(script.archived_ids(&["id 1", "id 2"]).await, BTreeMap::from([("id 1".to_owned(), 9)]));
}
