//! A commit takes effect as a whole, or not at all.

use super::support::*;

/// An empty commit succeeds.
pub async fn an_empty_commit_succeeds(store: Arc<dyn Store>) {
    assert_eq!(store.commit(Commit::default()).await, Ok(()));
}

/// A change decided on an earlier revision is refused.
pub async fn a_stale_change_conflicts(store: Arc<dyn Store>) {
    let mut script = Script::new(&store, "stale");
    script.say(users(2)).await;
    let stale = script.saying(vec![user("late")]).await;
    script.say(vec![user("first")]).await;
    refused(&store, stale.commit()).await;
    script.check().await;
}

/// An existing conversation is not created again.
pub async fn creating_what_exists_conflicts(store: Arc<dyn Store>) {
    let mut script = Script::new(&store, "twice");
    let again = script.creating();
    script.create().await;
    refused(&store, again.commit()).await;
    script.check().await;
}

/// A change applies only to the revision that it was decided on.
pub async fn changing_what_does_not_exist_conflicts(store: Arc<dyn Store>) {
    let mut script = Script::new(&store, "gone");
    script.create().await;
    let change = script.saying(vec![user("hello")]).await;
    script.delete().await;
    refused(&store, change.commit()).await;
    script.check().await;
}

/// One commit changes several conversations and pointers, and stores outcomes.
pub async fn several_conversations_change_together(store: Arc<dyn Store>) {
    let mut scripts = [Script::new(&store, "b"), Script::new(&store, "a"), Script::new(&store, "c")];
    scripts[2].say(users(3)).await;
    let steps = [
        scripts[0].saying(users(2)).await,
        scripts[1].saying(users(21)).await,
        scripts[2].saying(vec![user("more")]).await,
    ];
    let kept = outcome(&steps[0].after, Timestamp(1));
    let commit = Commit {
        writes: steps.iter().map(|step| step.write()).collect(),
        pointers: vec![activating(&recipient(RECIPIENT), "b"), activating(&recipient("bob"), "a")],
        outcomes: vec![(attempt("r1"), kept.clone()), (attempt("r2"), kept.clone())],
        ..Commit::default()
    };
    store.commit(commit).await.unwrap();
    for (script, step) in scripts.iter_mut().zip(&steps) {
        script.advance(step);
        script.check().await;
    }
    assert_eq!(active(&store, &recipient(RECIPIENT)).await.as_deref(), Some("b"));
    assert_eq!(active(&store, &recipient("bob")).await.as_deref(), Some("a"));
    for request in ["r1", "r2"] {
        assert_eq!(store.outcome(&attempt(request), Timestamp(0)).await, Ok(Some(kept.clone())));
    }
}

/// One write that conflicts prevents the others from taking effect, wherever it is in the commit.
pub async fn one_conflict_leaves_all_untouched(store: Arc<dyn Store>) {
    let mut scripts = [Script::new(&store, "m"), Script::new(&store, "a"), Script::new(&store, "z")];
    for script in &mut scripts {
        script.say(users(19)).await;
    }
    for stale in 0..scripts.len() {
        let late = scripts[stale].saying(vec![user("late")]).await;
        scripts[stale].say(vec![user("first")]).await;
        let mut writes = Vec::new();
        for (place, script) in scripts.iter().enumerate() {
            let step = script.saying(users(5)).await;
            writes.push(if place == stale { late.write() } else { step.write() });
        }
        let commit = with_marks(Commit { writes, ..Commit::default() }, &scripts[0]);
        refused(&store, commit).await;
        assert_unmarked(&store, &scripts).await;
    }
}

/// A pointer that is not as expected prevents the whole commit.
pub async fn a_pointer_that_moved_leaves_all_untouched(store: Arc<dyn Store>) {
    let mut scripts = [Script::new(&store, "a"), Script::new(&store, "b")];
    scripts[0].say(users(2)).await;
    let moved = PointerWrite {
        recipient: recipient("bob"),
        before: Some(scripts[0].key().id.clone()),
        after: Some(scripts[1].key().id.clone()),
    };
    let mut writes = Vec::new();
    for script in &scripts {
        writes.push(script.saying(users(2)).await.write());
    }
    let mut commit = with_marks(Commit { writes, ..Commit::default() }, &scripts[0]);
    commit.pointers.push(moved);
    refused(&store, commit).await;
    assert_unmarked(&store, &scripts).await;
    assert_eq!(active(&store, &recipient("bob")).await, None);
}

/// An outcome with the same key prevents the whole commit, so one attempt is never applied twice.
pub async fn an_outcome_that_is_kept_leaves_all_untouched(store: Arc<dyn Store>) {
    let mut scripts = [Script::new(&store, "a"), Script::new(&store, "b")];
    let first = scripts[0].saying(users(2)).await;
    let kept = outcome(&first.after, first.after.head.update_time);
    let outcomes = vec![(attempt("once"), kept.clone())];
    scripts[0].apply_in(Commit { outcomes, ..first.commit() }, &first).await;

    let mut writes = Vec::new();
    for script in &scripts {
        writes.push(script.saying(users(2)).await.write());
    }
    let mut commit = with_marks(Commit { writes, ..Commit::default() }, &scripts[0]);
    let other = outcome(&scripts[1].state, Timestamp(5));
    commit.outcomes.push((attempt("once"), other));
    refused(&store, commit).await;
    assert_unmarked(&store, &scripts).await;
    assert_eq!(store.outcome(&attempt("once"), Timestamp(0)).await, Ok(Some(kept)));
}

/// Adds a pointer and an outcome, which show whether the commit took effect.
fn with_marks(commit: Commit, script: &Script) -> Commit {
    let kept = outcome(&script.state, Timestamp(1));
    Commit {
        pointers: vec![activating(&recipient(RECIPIENT), "a")],
        outcomes: vec![(attempt("mark"), kept)],
        ..commit
    }
}

/// Checks that neither the conversations nor what [`with_marks`] adds have changed.
async fn assert_unmarked(store: &Arc<dyn Store>, scripts: &[Script]) {
    for script in scripts {
        script.check().await;
    }
    assert_eq!(active(store, &recipient(RECIPIENT)).await, None);
    assert_eq!(store.outcome(&attempt("mark"), Timestamp(0)).await, Ok(None));
}
