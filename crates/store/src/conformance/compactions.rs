//! Compactions, and undoing them.

use super::{
    lives::{Dice, change},
    support::*,
};
use utterd_domain::{
    compaction::{Cause, Extent},
    limits::{MAX_COMPACTIONS, MAX_UNDO},
    segment::Segment,
};

/// A window without limits, a summary that folds early, and model summaries enabled.
fn policy() -> Policy {
    Policy { summary_token_limit: Some(90), llm_summaries: Some(true), ..Policy::SESSION }
}

/// A conversation of 40 utterances, all in the window.
async fn long(store: &Arc<dyn Store>) -> Script {
    let mut script = Script::with(store, "long", policy());
    script.say(users(40)).await;
    script
}

/// A conversation that was compacted three times; each compaction but the first folded segments.
async fn compacted(store: &Arc<dyn Store>) -> Script {
    let mut script = long(store).await;
    for _ in 0..3 {
        script.compact(15).await;
        script.say(users(25)).await;
    }
    let folded = |script: &Script| folded(&script.state).count();
    assert!(folded(&script) > 1, "{:?}", script.state.compactions);
    script
}

/// The segments that undos would restore.
fn folded(state: &Conversation) -> impl Iterator<Item = &Arc<Segment>> {
    state.compactions.iter().flat_map(|compaction| compaction.folded.iter().flat_map(|all| all.iter()))
}

fn range(first: u64, last: u64) -> Ranges {
    Ranges::of(Sequence(first), Sequence(last))
}

/// Utterances that are archived without a summary return with an undo, and so do summarised ones.
pub async fn what_is_archived_only_comes_back(store: Arc<dyn Store>) {
    let mut script = long(&store).await;
    let first = script.compact_by(Extent::Oldest(7), false).await;
    assert_eq!((first.summarised, first.keep_recent, &first.compacted), (false, None, &range(1, 7)));
    assert!(script.state.summary.segments().is_empty());
    let second = script.compact_by(Extent::Oldest(9), true).await;
    assert_eq!((second.summarised, &second.compacted), (true, &range(8, 16)));
    assert_eq!(script.state.summary.covers(), range(8, 16));
    assert_eq!(script.undo().await, range(8, 16));
    assert_eq!(script.undo().await, range(1, 7));
    assert_eq!(script.state.window.len(), 40);
}

/// A compaction is loaded with all of its fields, and the utterances that left the window are archived.
pub async fn a_compaction_is_kept(store: Arc<dyn Store>) {
    let mut script = long(&store).await;
    script.now = script.now.plus(Duration::from_secs(7));
    let compaction = script.compact(15).await;
    assert_eq!((compaction.number, compaction.cause, compaction.count), (1, Cause::Asked, 25));
    assert_eq!((compaction.time, &compaction.compacted), (script.now, &range(1, 25)));
    assert_eq!(*script.state.compactions, [compaction]);
    assert_eq!(script.archived(&range(1, 40)).await.len(), 25);
    script.say(users(30)).await;
    script.compact(1).await;
    assert_eq!(script.state.window.len(), 1);
}

/// An undo moves the compacted utterances from the archive back into the window, as often as this is repeated.
pub async fn what_left_comes_back_with_an_undo(store: Arc<dyn Store>) {
    let mut script = long(&store).await;
    for _ in 0..3 {
        script.compact(15).await;
        assert_eq!(script.undo().await, range(1, 25));
        assert_eq!((script.state.window.len(), script.archive.len()), (40, 0));
        assert!(script.archived(&range(1, 40)).await.is_empty());
    }
    let undone = script.state.compactions.iter().filter(|compaction| compaction.undone.is_some());
    assert_eq!(undone.count(), 3);
    assert!(script.try_undo().await.is_err());
}

/// Each undo returns the utterances of its compaction, and restores the segments that it folded.
pub async fn several_are_undone_one_by_one(store: Arc<dyn Store>) {
    let mut script = compacted(&store).await;
    for returned in [range(51, 75), range(26, 50), range(1, 25)] {
        assert_eq!(script.undo().await, returned);
    }
    assert_eq!(script.state.window.len(), 115);
    assert!(script.state.summary.segments().is_empty());
    assert_eq!(folded(&script.state).count(), 0);
}

/// After an undo, utterances are appended, evicted and compacted as usual.
pub async fn what_was_said_since_stays(store: Arc<dyn Store>) {
    let mut script = compacted(&store).await;
    script.undo().await;
    script.say(vec![said(Role::Assistant, "Noted.")]).await;
    let narrow = PolicyUpdate { max_utterances: Some(20), ..PolicyUpdate::default() };
    script.limit(narrow).await;
    assert!(script.state.window.len() <= 20);
    assert_eq!(script.state.compactions.last().map(|last| last.cause), Some(Cause::Policy));
    script.undo().await;
    script.say(users(3)).await;
    assert!(script.state.window.len() <= 20, "what is said next evicts");
}

/// Ids that clients gave are found in the archive as long as their utterances are archived.
pub async fn ids_are_found_where_their_utterances_are(store: Arc<dyn Store>) {
    let mut script = Script::with(&store, "ids", policy());
    script.say(vec![named("first", "The code is 1."), named("second", "The code is 2.")]).await;
    script.say(users(40)).await;
    let found = |script: &Script| {
        let script = script.clone();
        async move { script.archived_ids(&["first", "second"]).await }
    };
    let both = BTreeMap::from([("first".to_owned(), 1), ("second".to_owned(), 2)]);
    script.compact(15).await;
    assert_eq!(found(&script).await, both);
    script.undo().await;
    assert_eq!(found(&script).await, BTreeMap::new());
    assert_eq!(script.state.window.given("first"), Some(Sequence(1)));
    assert!(script.forget("sequence:1", true).await);
    script.compact(15).await;
    assert_eq!(found(&script).await, BTreeMap::from([("second".to_owned(), 2)]));
    script.say(vec![named("first", "The code is 3.")]).await;
    assert_eq!(found(&script).await.len(), 1);
}

/// Compactions beyond the limit are dropped, the oldest first, and only the newest [`MAX_UNDO`] can be undone.
pub async fn the_oldest_go_beyond_the_limit(store: Arc<dyn Store>) {
    let turns = Marks::with_keep(2, 1);
    let mut script = Script::with(&store, "turns", Policy { turns, ..policy() });
    let mut number = 0;
    while number < MAX_COMPACTIONS as u32 + 4 {
        script.say(users(2)).await;
        number = script.state.head.next_compaction - 1;
    }
    let compactions = &script.state.compactions;
    assert_eq!((compactions.len(), compactions[0].number), (MAX_COMPACTIONS, 5));
    assert!(compactions.iter().all(|compaction| compaction.cause == Cause::Policy));
    assert_eq!(compactions.iter().filter(|compaction| compaction.is_undoable()).count(), MAX_UNDO);
}

/// Neither the summary nor the segments that undos would restore contain anything of hard-forgotten utterances.
pub async fn a_hard_forget_reaches_what_an_undo_would_bring_back(store: Arc<dyn Store>) {
    let mut script = compacted(&store).await;
    let told = |script: &Script| {
        let kept = folded(&script.state).chain(script.state.summary.segments());
        kept.flat_map(|segment| segment.covers.sequences().collect::<Vec<_>>()).collect::<Ranges>()
    };
    assert!(told(&script).holds(&range(1, 75)));
    assert!(script.forget("sequence:1-30", true).await);
    assert!(!told(&script).meets(&range(1, 30)));
    assert!(script.state.compactions.iter().all(|compaction| !compaction.compacted.meets(&range(1, 30))));
    assert_eq!(script.undo().await, range(51, 75));
    assert_eq!(script.undo().await, range(31, 50));
    assert_eq!(script.undo().await, Ranges::new());
    assert_eq!(script.state.window.len(), 85);
    assert!(script.forget("all", true).await);
    assert_eq!(script.state.head.stored, 0);
}

/// A soft-forgotten utterance is in neither the summary nor the segments that undos would restore, until the
/// utterance itself is restored.
pub async fn a_soft_forget_reaches_it_and_is_restored(store: Arc<dyn Store>) {
    let mut script = compacted(&store).await;
    let tells = |script: &Script, sequence: u64| {
        let mut kept = folded(&script.state).chain(script.state.summary.segments());
        kept.any(|segment| segment.items.iter().any(|item| item.sequence == sequence))
    };
    let sequence = (1..=25).find(|sequence| tells(&script, *sequence)).expect("something is told");
    assert!(script.forget(&format!("sequence:{sequence}"), false).await);
    assert!(!tells(&script, sequence));
    assert!(script.restore(&[sequence]).await);
    assert!(tells(&script, sequence));
    script.undo().await;
}

/// A fork starts without compactions, and is compacted on its own.
pub async fn a_fork_has_none(store: Arc<dyn Store>) {
    let mut family = Family::of(&store, "parent", policy());
    let parent = family.member("parent");
    parent.say(users(40)).await;
    parent.compact(15).await;
    family.fork("parent", "fork").await;
    family.fork_at("parent", "early", 10).await;
    for id in ["fork", "early"] {
        let fork = &family.members[id].state;
        assert!(fork.compactions.is_empty() && fork.head.next_compaction == 1);
    }
    family.member("fork").say(users(30)).await;
    assert_eq!(family.member("fork").compact(15).await.number, 1);
    family.check().await;
    assert_eq!(family.member("parent").undo().await, range(1, 25));
    family.check().await;
    assert_eq!(family.member("fork").undo().await, range(26, 55));
    family.check().await;
}

/// A shared utterance can be archived in one fork while it is in the window of the other, and is removed with
/// the last of them.
pub async fn what_returns_in_one_stays_archived_in_the_other(store: Arc<dyn Store>) {
    let mut family = Family::of(&store, "parent", policy());
    let parent = family.member("parent");
    parent.say(vec![named("first", "The code is 1.")]).await;
    parent.say(users(39)).await;
    parent.compact(15).await;
    family.fork("parent", "fork").await;
    family.member("parent").undo().await;
    family.check().await;
    assert_eq!(family.members["parent"].archived_ids(&["first"]).await, BTreeMap::new());
    assert_eq!(family.members["fork"].archived_ids(&["first"]).await.len(), 1);
    assert!(family.member("parent").mark(3, true, "here").await);
    assert!(family.erase("fork", 5).await);
    assert!(!family.kept("parent").contains(Sequence(5)));
    family.fork("parent", "second").await;
    family.delete(&["parent"]).await;
    assert_eq!(family.contents("second").len(), 39);
    family.delete_all().await;
}

/// Deleting a conversation deletes its compactions: its id starts again without any.
pub async fn a_deletion_leaves_none(store: Arc<dyn Store>) {
    let mut script = compacted(&store).await;
    script.delete().await;
    script.say(users(40)).await;
    assert!(script.state.compactions.is_empty());
    assert_eq!(script.compact(15).await.number, 1);
    script.undo().await;
}

/// A model's text is stored with the sentences, and with the segment that it is folded into, until one of its
/// source utterances is forgotten.
pub async fn what_a_model_told_is_kept(store: Arc<dyn Store>) {
    let mut script = long(&store).await;
    script.compact(15).await;
    let waiting = script.awaiting();
    assert!(!waiting.is_empty());
    for number in waiting {
        script.replace_by_llm(number, "- the codes of the rooms\n- /etc is closed").await;
    }
    assert!(script.state.summary.text().starts_with("- the codes of the rooms\n"));
    assert_eq!(script.state.compactions[0].model.as_deref(), Some("small"));
    script.say(users(30)).await;
    script.compact(15).await;
    script.say(users(30)).await;
    script.compact(15).await;
    let kept = folded(&script.state).any(|segment| segment.llm_text.is_some());
    assert!(kept, "an undo would bring the text back");
    let told = |script: &Script| {
        let mut kept = script.state.summary.segments().iter().chain(folded(&script.state));
        kept.any(|segment| {
            let awaits = segment.awaits.as_ref().is_some_and(|awaits| awaits.told.contains("the rooms"));
            segment.text().contains("the rooms\n") || awaits
        })
    };
    assert!(told(&script));
    assert!(script.forget("sequence:2", true).await);
    assert!(!told(&script));
}

/// Compactions and undos are applied among commands of all kinds, in a random order that is the same in each
/// run.
pub async fn a_random_life_is_kept_at_each_step(store: Arc<dyn Store>) {
    let mut undone = 0;
    for seed in 1..=3 {
        let mut script = Script::with(&store, &format!("life {seed}"), policy());
        let mut dice = Dice(seed);
        for step in 0..90 {
            script.now = script.now.plus(Duration::from_millis(dice.below(5_000)));
            undone += usize::from(live(&mut script, &mut dice, step).await);
        }
    }
    assert!(undone > 4, "{undone} compactions were undone");
}

/// Makes one step; returns whether it undid a compaction.
async fn live(script: &mut Script, dice: &mut Dice, step: usize) -> bool {
    match dice.below(12) {
        0..=2 => drop(script.say(users(1 + dice.below(12) as usize)).await),
        3 | 4 if script.state.window.len() >= 30 && script.state.head.open.is_none() => {
            script.compact(1 + dice.below(9) as u32).await;
        }
        5 | 6 => return script.try_undo().await.is_ok(),
        7 => {
            let any = 1 + dice.below(script.state.head.next.get());
            script.forget(&format!("sequence:{any}-{}", any + 3), true).await;
        }
        8 | 9 => match (script.awaiting().first().copied(), dice.below(3)) {
            (Some(number), 0) => script.give_up(number).await,
            (Some(number), _) => script.replace_by_llm(number, "- codes").await,
            (None, _) => {}
        },
        _ => {
            let kind = [0, 5, 7, 8][dice.below(4) as usize];
            change(script, dice, step, kind).await;
        }
    }
    false
}
