//! Outcomes of attempts with a request id are stored for a limited time.

use super::support::*;
use crate::Outcome;

/// Each field is returned as it was committed, including the numbers of a window over its limit.
pub async fn an_outcome_is_kept_whole(store: Arc<dyn Store>) {
    let policy = Policy { utterances: None, tokens: Some(Marks::of(1)), turns: None, ..Policy::ROLLING };
    for (name, policy) in [("full", Policy::ROLLING), ("over", policy), ("unlimited", Policy::SESSION)] {
        let mut script = Script::with(&store, name, policy);
        let step = script.saying(users(21)).await;
        let kept = outcome(&step.after, START);
        let outcomes = vec![(attempt(name), kept.clone())];
        script.apply_in(Commit { outcomes, ..step.commit() }, &step).await;
        assert_eq!(store.outcome(&attempt(name), START).await, Ok(Some(kept)));
    }
}

/// An attempt that changed nothing also has an outcome.
pub async fn an_outcome_needs_no_write(store: Arc<dyn Store>) {
    let kept = keep(&store, attempt("r"), START).await;
    assert_eq!(store.outcome(&attempt("r"), START).await, Ok(Some(kept)));
}

/// The key is the namespace, the call and the request together.
pub async fn an_outcome_is_its_attempts_alone(store: Arc<dyn Store>) {
    let kept = keep(&store, attempt("r"), START).await;
    let others = [
        attempt("R"),
        OutcomeKey { rpc: "Forget", ..attempt("r") },
        OutcomeKey { namespace: Namespace::new("other").unwrap(), ..attempt("r") },
    ];
    for other in &others {
        assert_eq!(store.outcome(other, Timestamp(0)).await, Ok(None));
    }
    for (other, later) in others.into_iter().zip(1..) {
        let time = START.plus(Duration::from_secs(later));
        let another = keep(&store, other.clone(), time).await;
        assert_eq!(store.outcome(&other, START).await, Ok(Some(another)));
    }
    assert_eq!(store.outcome(&attempt("r"), START).await, Ok(Some(kept)));
}

/// An outcome is returned unless it is older than the reader accepts.
pub async fn an_outcome_too_old_is_none(store: Arc<dyn Store>) {
    let kept = keep(&store, attempt("r"), START).await;
    assert_eq!(store.outcome(&attempt("r"), START).await, Ok(Some(kept)));
    assert_eq!(store.outcome(&attempt("r"), Timestamp(START.0 + 1)).await, Ok(None));
}

/// Once a read has found an outcome too old, a new attempt can take its key.
pub async fn an_outcome_too_old_gives_way(store: Arc<dyn Store>) {
    keep(&store, attempt("r"), START).await;
    let later = START.plus(Duration::from_secs(60));
    assert_eq!(store.outcome(&attempt("r"), later).await, Ok(None));
    let again = keep(&store, attempt("r"), later).await;
    assert_eq!(store.outcome(&attempt("r"), later).await, Ok(Some(again)));
    assert_eq!(store.remove_outcomes(later).await.map(|removed| removed <= 1), Ok(true));
    assert!(store.outcome(&attempt("r"), later).await.unwrap().is_some(), "the second one stays");
}

/// Outcomes older than the given time are removed; the others stay.
pub async fn old_outcomes_are_removed_and_counted(store: Arc<dyn Store>) {
    let time = |number: u64| START.plus(Duration::from_secs(number));
    for number in 0..10 {
        keep(&store, attempt(&format!("r{number}")), time(number)).await;
    }
    assert_eq!(store.remove_outcomes(time(0)).await, Ok(0));
    assert_eq!(store.remove_outcomes(time(4)).await, Ok(4));
    assert_eq!(store.remove_outcomes(time(4)).await, Ok(0));
    for number in 0..10 {
        let found = store.outcome(&attempt(&format!("r{number}")), START).await.unwrap();
        assert_eq!(found.is_some(), number >= 4, "r{number}");
    }
    let key = attempt("r7");
    let outcomes = vec![(key, outcome(&Script::new(&store, "any").state, time(20)))];
    refused(&store, Commit { outcomes, ..Commit::default() }).await;
}

/// Commits only an outcome.
async fn keep(store: &Arc<dyn Store>, key: OutcomeKey, time: Timestamp) -> Arc<Outcome> {
    let kept = outcome(&Script::new(store, "any").state, time);
    let outcomes = vec![(key, kept.clone())];
    store.commit(Commit { outcomes, ..Commit::default() }).await.unwrap();
    kept
}
