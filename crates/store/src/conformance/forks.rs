//! Forks share the utterances from before the fork, and nothing that is said or changed after it.

use super::{
    lives::{Dice, change},
    support::*,
};

/// A conversation of 30 utterances, of which 14 are archived, some with ids.
async fn family(store: &Arc<dyn Store>) -> Family {
    let mut family = Family::of(store, "parent", Policy::ROLLING);
    let parent = family.member("parent");
    parent.say(vec![named("first", "The code is 1."), user("The code is 2."), call("a")]).await;
    parent.say(vec![result("a", "found"), named("fifth", "The code is 5.")]).await;
    parent.say(users(15)).await;
    parent.say(users(10)).await;
    assert_eq!(parent.state.head.archived.count(), 14);
    family
}

/// A fork at the newest utterance has everything that its parent has: window, archive and summary.
pub async fn a_fork_has_what_its_parent_has(store: Arc<dyn Store>) {
    let mut family = family(&store).await;
    family.fork("parent", "fork").await;
    assert_eq!(family.contents("fork"), family.contents("parent"));
    assert_eq!(family.members["fork"].state.head.forked_from.as_ref().unwrap().sequence, Sequence(30));
}

/// A fork at an earlier utterance has the utterances up to that one, whether they are in its parent's window or
/// archive.
pub async fn a_fork_has_what_was_said_up_to_its_point(store: Arc<dyn Store>) {
    let mut family = family(&store).await;
    for at in [29, 20, 15, 14, 13, 5, 4, 2, 1] {
        family.fork_at("parent", &format!("at {at}"), at).await;
        assert_eq!(family.contents(&format!("at {at}")), family.contents("parent")[..at as usize]);
    }
}

/// A fork can be forked like any other conversation, and its parent can be forked again.
pub async fn forks_are_forked(store: Arc<dyn Store>) {
    let mut family = family(&store).await;
    family.fork_at("parent", "child", 25).await;
    family.member("child").say(users(20)).await;
    family.fork("child", "grandchild").await;
    family.fork_at("child", "cousin", 26).await;
    family.fork_at("grandchild", "back", 2).await;
    family.fork("parent", "second").await;
    family.member("grandchild").say(users(3)).await;
    family.fork_at("grandchild", "late", 47).await;
    assert_eq!(family.contents("late"), family.contents("grandchild")[..47]);
    assert_eq!(family.contents("cousin")[..25], family.contents("parent")[..25]);
}

/// An edit as a fork shares the utterances before the edited one, and ends with the edited one.
pub async fn an_edited_fork_says_something_else(store: Arc<dyn Store>) {
    let mut family = family(&store).await;
    for at in [1, 5, 14, 15, 30] {
        let id = format!("edited at {at}");
        let forking = family.forking_edited("parent", &id, at, "The code is another.").await;
        family.apply(forking.expect("the rules accept the edit")).await;
        let (said, before) = (family.contents(&id), at as usize - 1);
        assert_eq!(said[..before], family.contents("parent")[..before]);
        assert_eq!(said[before..], ["The code is another."]);
    }
    let with_copies = |id: &str| (id.to_owned(), 0);
    assert!(family.sharing("parent").await.contains(&with_copies("edited at 1")), "it shares nothing");
    family.fork("edited at 1", "again").await;
    family.delete(&["edited at 1"]).await;
    assert!(family.sharing("parent").await.contains(&with_copies("again")), "whatever is gone between them");
}

/// Utterances that one conversation appends after a fork are absent from the other, although their sequences
/// are the same.
pub async fn what_is_said_after_a_fork_is_ones_own(store: Arc<dyn Store>) {
    let mut family = family(&store).await;
    family.fork_at("parent", "fork", 25).await;
    family.member("fork").say(vec![user("Only here.")]).await;
    family.member("parent").say(vec![user("Only there.")]).await;
    family.member("fork").say(users(30)).await;
    family.check().await;
    family.member("parent").say(users(30)).await;
    family.check().await;
    assert_eq!(family.contents("fork")[25], "Only here.");
    assert_eq!(family.contents("parent")[30], "Only there.");
}

/// Marking, forgetting and restoring a shared utterance affects one conversation only. A later fork has the
/// utterances as they are in its parent.
pub async fn what_is_changed_is_changed_on_one_side(store: Arc<dyn Store>) {
    let mut family = family(&store).await;
    family.fork("parent", "fork").await;
    for (id, archived, live) in [("parent", 2, 20), ("fork", 5, 21)] {
        assert!(family.member(id).mark(archived, true, id).await);
        assert!(family.member(id).mark(live, true, id).await);
        assert!(family.member(id).forget(&format!("sequence:{}", archived + 5), false).await);
        assert!(family.member(id).forget(&format!("sequence:{}", live + 5), false).await);
        family.check().await;
    }
    family.fork("parent", "second").await;
    assert!(
        family.members["second"]
            .stored()
            .any(|utterance| utterance.sequence == Sequence(2) && utterance.pinned)
    );
    for id in ["parent", "second"] {
        assert!(family.member(id).restore(&[7, 25]).await);
        family.check().await;
    }
    family.fork_at("second", "third", 24).await;
    assert!(family.member("parent").mark(2, false, "no more").await);
    family.check().await;
}

/// Utterances that a deleted conversation shared are still complete in the others.
pub async fn deleting_one_leaves_the_others_whole(store: Arc<dyn Store>) {
    let mut family = family(&store).await;
    family.fork_at("parent", "child", 28).await;
    family.member("child").say(users(5)).await;
    assert!(family.member("child").mark(3, true, "kept").await);
    family.fork("child", "grandchild").await;
    family.fork_at("parent", "other", 10).await;
    family.delete(&["child"]).await;
    family.delete(&["parent"]).await;
    assert_eq!(family.contents("grandchild").len(), 33);
    family.member("grandchild").say(users(30)).await;
    family.fork_at("grandchild", "again", 12).await;
    family.delete(&["other"]).await;
    family.delete(&["grandchild"]).await;
    family.delete(&["again"]).await;
}

/// A whole family is deleted in one commit. The ids can be used again, for conversations that start empty.
pub async fn a_family_is_deleted_in_one_commit(store: Arc<dyn Store>) {
    let mut family = family(&store).await;
    family.fork_at("parent", "child", 28).await;
    family.fork_at("child", "grandchild", 20).await;
    family.delete(&["child", "parent", "grandchild"]).await;
    let mut again = Family::of(&store, "parent", Policy::ROLLING);
    again.member("parent").say(vec![named("first", "Anew.")]).await;
    again.fork("parent", "child").await;
    assert_eq!(again.contents("child"), ["Anew."]);
}

/// Utterances that one conversation drops from its archive stay in the other.
pub async fn what_one_drops_the_other_keeps(store: Arc<dyn Store>) {
    let mut family = family(&store).await;
    family.fork("parent", "fork").await;
    let most = |limit| PolicyUpdate { archive_limit: Some(limit), ..PolicyUpdate::default() };
    family.member("parent").limit(most(5)).await;
    assert_eq!(family.kept("parent").first(), Some(Sequence(10)));
    family.check().await;
    family.fork("parent", "short").await;
    family.member("fork").limit(most(8)).await;
    family.check().await;
    family.delete(&["parent"]).await;
    family.member("short").limit(most(0)).await;
    family.check().await;
    assert_eq!(family.kept("fork").count(), 24);
}

/// An erased utterance is removed from all conversations that share it, changed or not, from window and
/// archive.
pub async fn what_is_erased_is_erased_for_all(store: Arc<dyn Store>) {
    let mut family = family(&store).await;
    family.fork_at("parent", "child", 25).await;
    assert!(family.member("child").mark(4, true, "changed").await);
    family.fork("child", "grandchild").await;
    assert!(family.member("parent").mark(20, true, "changed").await);
    for (id, sequence) in [("parent", 3), ("grandchild", 20), ("child", 1), ("parent", 5)] {
        assert!(family.erase(id, sequence).await);
        for other in ["parent", "child", "grandchild"] {
            assert!(!family.kept(other).contains(Sequence(sequence)), "{sequence} of {other}");
        }
    }
    assert!(!family.kept("grandchild").contains(Sequence(4)), "of the same exchange");
    assert!(family.erase("parent", 27).await);
    let ids = family.members["grandchild"].archived_ids(&["first", "fifth"]).await;
    assert_eq!(ids, BTreeMap::new());
    store.scrub().await.expect("a scrub");
    family.check().await;
}

/// The conversations that share utterances with another are listed, each with the last shared sequence. The
/// list is empty for a conversation that was never forked.
pub async fn those_that_share_are_known(store: Arc<dyn Store>) {
    let mut family = family(&store).await;
    assert_eq!(family.sharing("nobody").await, []);
    assert_eq!(family.sharing("parent").await, []);
    let some = |shared: &[(&str, u64)]| -> Vec<(String, u64)> {
        shared.iter().map(|(id, through)| ((*id).to_owned(), *through)).collect()
    };
    family.fork_at("parent", "b", 25).await;
    family.fork_at("parent", "a", 10).await;
    family.member("b").say(users(5)).await;
    family.fork_at("b", "c", 28).await;
    assert_eq!(family.sharing("parent").await, some(&[("a", 10), ("b", 25), ("c", 25)]));
    assert_eq!(family.sharing("a").await, some(&[("b", 10), ("c", 10), ("parent", 10)]));
    assert_eq!(family.sharing("c").await, some(&[("a", 10), ("b", 28), ("parent", 25)]));
    family.delete(&["b"]).await;
    assert_eq!(family.sharing("c").await, some(&[("a", 10), ("parent", 25)]));
    family.delete(&["a", "parent"]).await;
    assert_eq!(family.sharing("c").await, []);
}

/// Ids that clients gave are found in each conversation that has the utterance: shared ones in both, later ones
/// in one.
pub async fn given_ids_are_found_in_forks(store: Arc<dyn Store>) {
    let mut family = family(&store).await;
    family.member("parent").say(vec![named("late", "Late.")]).await;
    family.fork_at("parent", "fork", 29).await;
    family.member("parent").say(users(40)).await;
    family.member("fork").say(vec![user("No."), user("No."), named("late", "Later."), user("No.")]).await;
    family.member("fork").say(users(40)).await;
    let ids = |found: &[(&str, u64)]| -> BTreeMap<String, u64> {
        found.iter().map(|(id, sequence)| ((*id).to_owned(), *sequence)).collect()
    };
    let asked = ["first", "fifth", "late", "never"];
    let of = |id: &str, family: &Family| family.members[id].clone();
    assert_eq!(
        of("parent", &family).archived_ids(&asked).await,
        ids(&[("first", 1), ("fifth", 5), ("late", 31)])
    );
    assert_eq!(
        of("fork", &family).archived_ids(&asked).await,
        ids(&[("first", 1), ("fifth", 5), ("late", 32)])
    );
    assert!(family.member("fork").mark(5, true, "changed").await);
    family.fork_at("fork", "second", 31).await;
    assert_eq!(of("second", &family).archived_ids(&asked).await, ids(&[("first", 1), ("fifth", 5)]));
}

/// A fork is refused as a whole if its parent has changed, or if its id is taken.
pub async fn a_fork_that_conflicts_changes_nothing(store: Arc<dyn Store>) {
    let mut family = family(&store).await;
    let stale = family.forking("parent", "fork", None).await.expect("a fork");
    family.member("parent").say(users(1)).await;
    refused(&store, stale.commit()).await;
    let taken = family.forking("parent", "parent 2", Some(20)).await.expect("a fork");
    let mut other = Family::of(&store, "parent 2", Policy::ROLLING);
    other.member("parent 2").say(users(2)).await;
    refused(&store, taken.commit()).await;
    assert_eq!(store.load(&key("fork")).await, Ok(None));
    assert_eq!(family.sharing("parent").await, []);
    family.check().await;
    other.check().await;
}

/// One commit can delete the parent and change the fork.
pub async fn a_parent_goes_while_its_fork_changes(store: Arc<dyn Store>) {
    let mut family = family(&store).await;
    family.fork("parent", "fork").await;
    let step =
        family.members["fork"].forgetting("sequence:3-20", false).await.expect("something is forgotten");
    let deleting: Write = family.members["parent"].deleting();
    let commit = Commit { writes: vec![deleting, step.write()], ..Commit::default() };
    store.commit(commit).await.expect("both are at these revisions");
    family.members.remove("parent");
    family.member("fork").advance(&step);
    family.check().await;
    assert!(family.member("fork").restore(&[10]).await);
}

/// Forks, deletions and appends in between can all be committed before any of them is awaited.
pub async fn a_chain_of_forks_is_handed_over_at_once(store: Arc<dyn Store>) {
    let mut family = Family::of(&store, "parent", Policy::ROLLING);
    let step = family.members["parent"].saying(users(30)).await;
    let mut commits = vec![store.commit(step.commit())];
    family.member("parent").advance(&step);
    for id in ["one", "two"] {
        let forking = family.forking("parent", id, None).await.expect("a fork");
        commits.push(store.commit(forking.commit()));
        family.adopt(forking);
    }
    let deleting = |family: &mut Family, id| {
        let member = family.members.remove(id).expect("a member of the family");
        store.commit(Commit { writes: vec![member.deleting()], ..Commit::default() })
    };
    commits.push(deleting(&mut family, "parent"));
    let step = family.members["one"].saying(users(1)).await;
    commits.push(store.commit(step.commit()));
    family.member("one").advance(&step);
    for commit in commits {
        assert_eq!(commit.await, Ok(()));
    }
    family.check().await;
    let commits = [deleting(&mut family, "one"), deleting(&mut family, "two")];
    for commit in commits {
        assert_eq!(commit.await, Ok(()));
    }
    for id in ["parent", "one", "two"] {
        assert_eq!(store.load(&key(id)).await, Ok(None));
    }
}

/// The members of a family can change and be deleted concurrently.
pub async fn a_family_changes_at_once(store: Arc<dyn Store>) {
    let mut family = family(&store).await;
    let forks: Vec<String> = (0..8).map(|number| format!("fork {number}")).collect();
    for (at, id) in (23..).zip(&forks) {
        family.fork_at("parent", id, at).await;
    }
    let mut tasks = Vec::new();
    for (number, id) in (1..).zip(&forks) {
        let mut fork = family.members.remove(id).expect("a member of the family");
        tasks.push(tokio::spawn(async move {
            fork.mark(15 + number, true, "mine").await;
            fork.say(users(20)).await;
            if number % 2 == 0 {
                fork.delete().await;
            }
            fork.check().await;
        }));
    }
    let parent = family.member("parent");
    for sequence in 16..24 {
        parent.mark(sequence, true, "first").await;
    }
    for task in tasks {
        task.await.expect("a fork is whole");
    }
    family.check().await;
}

/// Commands of all kinds are applied to a family that grows and shrinks, in a random order that is the same in
/// each run.
pub async fn random_families_are_kept_at_each_step(store: Arc<dyn Store>) {
    for seed in 1..=3 {
        random_family(&store, seed, 90).await.delete_all().await;
    }
}

/// Returns a family after this many random steps.
pub(crate) async fn random_family(store: &Arc<dyn Store>, seed: u64, steps: usize) -> Family {
    let policy = Policy {
        utterances: Marks::with_keep(9, 5),
        summary_token_limit: Some(80),
        archive_limit: 25,
        ..Policy::ROLLING
    };
    let mut family = Family::of(store, &format!("family {seed}"), policy);
    let mut dice = Dice(seed);
    for step in 0..steps {
        let ids: Vec<String> = family.members.keys().cloned().collect();
        let id = &ids[dice.below(ids.len() as u64) as usize];
        live(&mut family, id, &mut dice, step).await;
        family.check().await;
    }
    family
}

async fn live(family: &mut Family, id: &str, dice: &mut Dice, step: usize) {
    let next = family.members[id].state.head.next.get();
    match dice.below(20) {
        0..=2 if next > 1 && family.members.len() < 6 => {
            let at = (dice.below(2) == 0).then(|| 1 + dice.below(next - 1));
            // A point within an exchange is refused.
            if let Ok(forking) = family.forking(id, &format!("{id}/{step}"), at).await {
                family.apply(forking).await;
            }
        }
        3 if next > 1 && family.members.len() < 6 => edit(family, id, dice, step).await,
        6 if family.members.len() > 2 => family.delete(&[id]).await,
        4 | 5 => drop(family.erase(id, 1 + dice.below(next)).await),
        _ => {
            let kind = dice.below(12);
            change(family.member(id), dice, step, kind).await;
        }
    }
}

/// Edits any utterance as a fork, if the rules allow it.
async fn edit(family: &mut Family, id: &str, dice: &mut Dice, step: usize) {
    let stored: Vec<Sequence> = family.members[id].stored().map(|utterance| utterance.sequence).collect();
    let Some(Sequence(any)) = stored.get(dice.below(stored.len().max(1) as u64) as usize) else { return };
    let edited = family.forking_edited(id, &format!("{id}/{step}"), *any, "It says something else.").await;
    if let Ok(forking) = edited {
        family.apply(forking).await;
    }
}
