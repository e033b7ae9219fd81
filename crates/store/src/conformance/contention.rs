//! Several concurrent committers.

use super::support::*;
use crate::Conflict;

/// Concurrent committers.
const TASKS: usize = 8;
/// Commits of each committer.
const COMMITS: usize = 12;

/// Commits are compare-and-set: each change of each committer takes effect exactly once.
pub async fn every_committer_gets_in(store: Arc<dyn Store>) {
    let mut script = Script::with(&store, "contended", Policy::SESSION);
    script.create().await;
    let committer = |task: usize| {
        let script = script.clone();
        tokio::spawn(async move {
            for number in 0..COMMITS {
                insist(&script, &format!("{task} says {number}")).await;
            }
        })
    };
    join((0..TASKS).map(committer)).await;

    let state = store.load(script.key()).await.unwrap().unwrap();
    let (all, said) =
        (TASKS * COMMITS, |text: &String| state.window.iter().filter(|u| *u.content == **text).count());
    assert_eq!(state.head.revision.get(), 1 + all as u64);
    assert!(state.window.iter().map(|u| u.sequence).eq((1..=all as u64).map(Sequence)));
    for task in 0..TASKS {
        for number in 0..COMMITS {
            assert_eq!(said(&format!("{task} says {number}")), 1);
        }
    }
}

/// If several writers start a recipient's first conversation concurrently, one succeeds.
pub async fn one_first_writer_wins(store: Arc<dyn Store>) {
    let writer = |task: usize| {
        let id = format!("by {task}");
        let script = Script::new(&store, &id);
        tokio::spawn(async move {
            let step = script.saying(vec![user("hello")]).await;
            let pointers = vec![activating(&recipient(RECIPIENT), &id)];
            (id, script.store.commit(Commit { pointers, ..step.commit() }).await)
        })
    };
    let results = join((0..TASKS).map(writer)).await;
    let (won, lost): (Vec<_>, Vec<_>) = results.into_iter().partition(|(_, result)| result.is_ok());
    assert_eq!(won.len(), 1);
    assert!(lost.iter().all(|(_, result)| matches!(result, Err(CommitError::Conflict(_)))));
    assert_eq!(active(&store, &recipient(RECIPIENT)).await, Some(won[0].0.clone()));
    assert_eq!(listed(&store, &recipient(RECIPIENT), 100).await, [won[0].0.clone()]);
    for (id, _) in lost {
        assert_eq!(store.load(&key(&id)).await, Ok(None));
    }
}

/// Commits of the same conversations in opposite orders all complete.
pub async fn commits_in_opposite_orders_do_not_block(store: Arc<dyn Store>) {
    let mut scripts = [Script::new(&store, "left"), Script::new(&store, "right")];
    for script in &mut scripts {
        script.create().await;
    }
    let committer = |task: usize| {
        let [left, right] = scripts.clone();
        let mut pair = if task.is_multiple_of(2) { [left, right] } else { [right, left] };
        tokio::spawn(async move {
            for _ in 0..COMMITS {
                insist_on_both(&mut pair).await;
            }
        })
    };
    join((0..TASKS).map(committer)).await;
    for script in &scripts {
        let state = store.load(script.key()).await.unwrap().unwrap();
        assert_eq!(state.head.revision.get(), 1 + (TASKS * COMMITS) as u64);
    }
}

/// An attempt that is made several times concurrently takes effect once, even on different conversations.
pub async fn one_attempt_takes_effect_once(store: Arc<dyn Store>) {
    let committer = |task: usize| {
        let script = Script::of(&store, identity(key(&format!("by {task}")), "ann"), Policy::ROLLING);
        tokio::spawn(async move {
            let step = script.saying(vec![user("hello")]).await;
            let outcomes = vec![(attempt("once"), outcome(&step.after, START))];
            script.store.commit(Commit { outcomes, ..step.commit() }).await
        })
    };
    let results = join((0..TASKS).map(committer)).await;
    assert_eq!(results.iter().filter(|result| result.is_ok()).count(), 1);
    assert!(results.iter().all(|result| matches!(result, Ok(()) | Err(CommitError::Conflict(_)))));
    let listed = listed(&store, &recipient(RECIPIENT), 100).await;
    let kept = store.outcome(&attempt("once"), START).await.unwrap().unwrap();
    assert_eq!(listed, [kept.conversation.to_string()]);
}

/// Each of many concurrent commits takes effect, or conflicts for its own reason.
pub async fn one_conflict_is_no_others(store: Arc<dyn Store>) {
    let mut first = Script::new(&store, "first");
    let step = first.saying(vec![user("hello")]).await;
    let outcomes = vec![(attempt("kept"), outcome(&step.after, START))];
    let pointers = vec![activating(&recipient(RECIPIENT), "first")];
    first.apply_in(Commit { outcomes, pointers, ..step.commit() }, &step).await;
    let mut waiting = Vec::new();
    for round in 0..COMMITS {
        for fault in Faulty::ALL {
            let mut script = Script::new(&store, &format!("{round} {fault:?}"));
            script.create().await;
            let commit = fault.commit(&mut script).await;
            let store = store.clone();
            waiting.push(tokio::spawn(async move { (fault, script, store.commit(commit).await) }));
        }
    }
    for (fault, script, result) in join(waiting.into_iter()).await {
        let is_as_expected = match fault {
            Faulty::Nothing => result.is_ok(),
            Faulty::State => {
                is_conflict(&result, |it| matches!(it, Conflict::State(key) if key == script.key()))
            }
            Faulty::Pointer => is_conflict(&result, |it| *it == Conflict::Pointer(recipient(RECIPIENT))),
            Faulty::Outcome => is_conflict(&result, |it| *it == Conflict::Outcome(attempt("kept"))),
        };
        assert!(is_as_expected, "{fault:?}: {result:?}");
        script.check().await;
    }
}

/// The expectation of a commit that does not hold.
#[derive(Clone, Copy, Debug)]
enum Faulty {
    Nothing,
    State,
    Pointer,
    Outcome,
}

impl Faulty {
    const ALL: [Self; 4] = [Self::Nothing, Self::State, Self::Pointer, Self::Outcome];

    /// Returns a commit to the conversation, and brings its script to the state that should result.
    async fn commit(self, script: &mut Script) -> Commit {
        let step = script.saying(vec![user("said at the same time")]).await;
        let commit = step.commit();
        match self {
            Self::Nothing => {
                script.advance(&step);
                commit
            }
            Self::State => {
                script.say(vec![user("said before")]).await;
                commit
            }
            Self::Pointer => {
                let id = Some(script.key().id.clone());
                let pointer = PointerWrite { recipient: recipient(RECIPIENT), before: id.clone(), after: id };
                Commit { pointers: vec![pointer], ..commit }
            }
            Self::Outcome => {
                Commit { outcomes: vec![(attempt("kept"), outcome(&step.after, START))], ..commit }
            }
        }
    }
}

fn is_conflict(result: &Result<(), CommitError>, is_this: impl FnOnce(&Conflict) -> bool) -> bool {
    matches!(result, Err(CommitError::Conflict(conflict)) if is_this(conflict))
}

/// Commits `text` to the conversation's current state, retrying after each conflict.
async fn insist(script: &Script, text: &str) {
    let mut script = script.clone();
    loop {
        script.state = script.store.load(script.key()).await.unwrap().unwrap();
        let step = script.saying(vec![user(text)]).await;
        match script.store.commit(step.commit()).await {
            Ok(()) => return,
            Err(error) => assert!(matches!(error, CommitError::Conflict(_))),
        }
    }
}

async fn insist_on_both(pair: &mut [Script; 2]) {
    loop {
        let mut writes = Vec::new();
        for script in pair.iter_mut() {
            script.state = script.store.load(script.key()).await.unwrap().unwrap();
            writes.push(script.saying(vec![user("both")]).await.write());
        }
        match pair[0].store.commit(Commit { writes, ..Commit::default() }).await {
            Ok(()) => return,
            Err(error) => assert!(matches!(error, CommitError::Conflict(_))),
        }
    }
}
