//! Commits of one conversation take effect in the order of the calls.

use super::support::*;

/// Commits take effect in the order of the calls, even if the second future is awaited first.
pub async fn commits_take_effect_in_the_order_of_calls(store: Arc<dyn Store>) {
    let mut script = Script::with(&store, "calls", Policy::SESSION);
    script.create().await;
    let steps = chain(&script, 2).await;
    let (first, second) = (store.commit(steps[0].commit()), store.commit(steps[1].commit()));
    assert_eq!(second.await, Ok(()));
    assert_eq!(first.await, Ok(()));
    steps.iter().for_each(|step| script.advance(step));
    script.check().await;
}

/// Changes that build on each other can all be committed before any of them is awaited.
pub async fn a_chain_is_handed_over_at_once(store: Arc<dyn Store>) {
    let mut script = Script::with(&store, "chain", Policy::SESSION);
    let steps = chain(&script, 64).await;
    let commits: Vec<_> = steps.iter().map(|step| tokio::spawn(store.commit(step.commit()))).collect();
    for commit in commits {
        assert_eq!(commit.await.expect("a commit does not panic"), Ok(()));
    }
    steps.iter().for_each(|step| script.advance(step));
    script.check().await;
}

/// Commits that build on a refused one are refused too.
pub async fn a_chain_on_a_refused_commit_is_refused(store: Arc<dyn Store>) {
    let mut script = Script::with(&store, "broken", Policy::SESSION);
    script.create().await;
    let steps = chain(&script, 4).await;
    let kept = outcome(&script.state, script.now);
    let mark = Commit { outcomes: vec![(attempt("made"), kept)], ..Commit::default() };
    store.commit(mark.clone()).await.expect("the attempt is new");
    let first = store.commit(Commit { outcomes: mark.outcomes, ..steps[0].commit() });
    let rest = steps[1..].iter().map(|step| store.commit(step.commit()));
    let commits: Vec<_> = std::iter::once(first).chain(rest).collect();
    for commit in commits.into_iter().rev() {
        assert!(matches!(commit.await, Err(CommitError::Conflict(_))));
    }
    script.check().await;
    script.say(vec![user("on we go")]).await;
}

/// A commit whose future is dropped takes effect on all of its conversations, or on none.
pub async fn a_commit_that_is_dropped_is_whole(store: Arc<dyn Store>) {
    let mut scripts = [Script::new(&store, "left"), Script::new(&store, "right")];
    let mut dropped = Vec::new();
    for script in &mut scripts {
        script.create().await;
        dropped.push(script.saying(vec![user("Do not wait for me.")]).await);
    }
    drop(store.commit(together(&dropped)));

    // As commits take effect in the order of calls, this one succeeds exactly if the dropped one had no effect.
    let mut next = Vec::new();
    for script in &scripts {
        next.push(script.saying(vec![user("I wait.")]).await);
    }
    let effective = match store.commit(together(&next)).await {
        Ok(()) => next,
        Err(error) => {
            assert!(matches!(error, CommitError::Conflict(_)));
            dropped
        }
    };
    for (script, step) in scripts.iter_mut().zip(&effective) {
        script.advance(step);
        script.check().await;
    }
    let stale = scripts[0].clone();
    scripts[0].say(users(1)).await;
    refused(&store, stale.saying(users(1)).await.commit()).await;
}

/// Returns changes that each apply to the state after the previous one. No utterance may leave the window
/// meanwhile: the script would read it from the archive before it is committed.
async fn chain(script: &Script, length: usize) -> Vec<Step> {
    let mut ahead = script.clone();
    let mut steps = Vec::new();
    for draft in users(length) {
        let step = ahead.saying(vec![draft]).await;
        ahead.advance(&step);
        steps.push(step);
    }
    steps
}

fn together(steps: &[Step]) -> Commit {
    Commit { writes: steps.iter().map(Step::write).collect(), ..Commit::default() }
}
