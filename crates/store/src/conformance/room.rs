//! Cases for a store that can be full, with room for 64 KiB to 32 MiB.

use super::support::*;

/// The bytes of one utterance in these cases.
const PIECE: usize = 16 << 10;
/// More pieces than any store in these cases has room for.
const TOO_MANY: usize = 4_096;

/// A write without room has no effect, and the error reports the limit and how much is used.
pub async fn a_write_beyond_the_limit_is_refused(store: Arc<dyn Store>) {
    let mut script = Script::with(&store, "full", Policy::SESSION);
    let error = fill(&mut script).await;
    let CommitError::Store(StoreError::Full { used, limit, added }) = error else {
        panic!("a full store says so: {error}");
    };
    assert!(used <= limit && used + added > limit && added >= PIECE as u64, "{error}");
    script.check().await;
    assert!(is_full(&store.commit(script.saying(vec![piece()]).await.commit()).await), "still");
}

/// A commit that does not fit has no effect at all.
pub async fn a_commit_of_several_is_refused_whole(store: Arc<dyn Store>) {
    let (mut large, small) = (Script::with(&store, "large", Policy::SESSION), Script::new(&store, "small"));
    fill(&mut large).await;
    let steps = [large.saying(vec![piece()]).await, small.saying(users(1)).await];
    let commit = Commit {
        writes: steps.iter().map(|step| step.write()).collect(),
        pointers: vec![activating(&recipient(RECIPIENT), "small")],
        outcomes: vec![(attempt("r"), outcome(&steps[1].after, Timestamp(1)))],
        ..Commit::default()
    };
    assert!(is_full(&store.commit(commit).await));
    large.check().await;
    small.check().await;
    assert_eq!(active(&store, &recipient(RECIPIENT)).await, None);
    assert_eq!(store.outcome(&attempt("r"), Timestamp(0)).await, Ok(None));
}

/// Reading and soft forgetting need no room.
pub async fn a_full_store_reads_and_forgets(store: Arc<dyn Store>) {
    let mut script = Script::with(&store, "full", Policy::SESSION);
    fill(&mut script).await;
    assert!(script.forget("oldest", false).await);
    assert!(script.restore(&[1]).await);
}

/// Hard forgetting makes room.
pub async fn what_is_erased_makes_room(store: Arc<dyn Store>) {
    let mut script = Script::with(&store, "full", Policy::SESSION);
    fill(&mut script).await;
    assert!(script.forget("last:2", true).await);
    script.say(vec![piece()]).await;
}

/// Deleting a conversation makes room, each time.
pub async fn what_is_deleted_makes_room(store: Arc<dyn Store>) {
    let mut script = Script::with(&store, "full", Policy::SESSION);
    for _ in 0..3 {
        fill(&mut script).await;
        assert!(!script.state.window.is_empty());
        script.delete().await;
        script.check().await;
    }
}

/// Forking needs no room for a copy of the shared utterances. Their room is freed with the last conversation
/// that has them.
pub async fn forks_share_their_room(store: Arc<dyn Store>) {
    let mut family = Family::of(&store, "full", Policy::SESSION);
    fill(family.member("full")).await;
    let said = family.members["full"].state.window.len();
    assert!(family.erase("full", said as u64).await);
    family.fork("full", "one").await;
    family.fork("one", "two").await;
    family.delete(&["full"]).await;
    let mut other = Script::with(&store, "other", Policy::SESSION);
    fill(&mut other).await;
    assert!(other.state.window.len() <= 2, "what is shared is still there");
    family.delete(&["one"]).await;
    assert!(is_full(&store.commit(other.saying(vec![piece(), piece()]).await.commit()).await));
    family.delete(&["two"]).await;
    fill(&mut other).await;
    assert!(other.state.window.len() + 2 >= said, "all of it is free");
}

/// Writes until the store is full; returns the error.
async fn fill(script: &mut Script) -> CommitError {
    for _ in 0..TOO_MANY {
        let step = script.saying(vec![piece()]).await;
        match script.store.commit(step.commit()).await {
            Ok(()) => script.advance(&step),
            Err(error) => return error,
        }
    }
    panic!("the store took {TOO_MANY} pieces of {PIECE} bytes");
}

fn piece() -> utterd_domain::Draft {
    user(&"0123456789abcdef".repeat(PIECE / 16))
}
