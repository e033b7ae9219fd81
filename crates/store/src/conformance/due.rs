//! Conversations that are due, and when.

use super::support::*;
use crate::Due;

/// A conversation is due when its time has come, not before.
pub async fn nothing_is_due_before_its_time(store: Arc<dyn Store>) {
    Script::new(&store, "for ever").create().await;
    expiring(&store, "soon", 60).await;
    assert_due(&store, 60_000_000 - 1, 10, &[]).await;
    assert_due(&store, 60_000_000, 10, &["soon"]).await;
    assert_due(&store, 60_000_000, 10, &["soon"]).await;
}

/// The conversations that have been due for longest come first, up to the limit.
pub async fn what_is_due_first_comes_first(store: Arc<dyn Store>) {
    for (id, seconds) in [("b", 30), ("c", 20), ("a", 40), ("d", 10)] {
        expiring(&store, id, seconds).await;
    }
    assert_due(&store, 35_000_000, 10, &["d", "c", "b"]).await;
    assert_due(&store, 35_000_000, 2, &["d", "c"]).await;
    assert_due(&store, i64::MAX - START.0, 10, &["d", "c", "b", "a"]).await;
    assert_due(&store, 35_000_000, 0, &[]).await;
}

/// Each change restarts the time until a conversation expires.
pub async fn a_change_puts_the_time_off(store: Arc<dyn Store>) {
    let mut script = expiring(&store, "used", 60).await;
    expiring(&store, "unused", 60).await;
    script.now = script.now.plus(Duration::from_secs(50));
    script.say(vec![user("still here")]).await;
    assert_due(&store, 109_999_999, 10, &["unused"]).await;
    assert_due(&store, 110_000_000, 10, &["unused", "used"]).await;
}

/// A policy sets, moves and removes the time at which a conversation expires.
pub async fn a_new_policy_sets_the_time(store: Arc<dyn Store>) {
    let mut script = Script::new(&store, "policy");
    script.create().await;
    for (seconds, due) in [(50, true), (5, true), (0, false), (1, true)] {
        let expire_after = Some(Duration::from_secs(seconds));
        script.limit(PolicyUpdate { expire_after, ..PolicyUpdate::default() }).await;
        let expected: &[&str] = if due { &["policy"] } else { &[] };
        assert_due(&store, i64::MAX - START.0, 10, expected).await;
        assert_due(&store, seconds as i64 * 1_000_000 - 1, 10, &[]).await;
    }
}

/// A deleted conversation is not due, and neither is a new one with its id.
pub async fn what_is_deleted_is_not_due(store: Arc<dyn Store>) {
    let mut script = expiring(&store, "deleted", 60).await;
    script.delete().await;
    assert_due(&store, 60_000_000, 10, &[]).await;
    Script::new(&store, "deleted").create().await;
    assert_due(&store, 60_000_000, 10, &[]).await;
}

async fn expiring(store: &Arc<dyn Store>, id: &str, seconds: u64) -> Script {
    let expire_after = Some(Duration::from_secs(seconds));
    let mut script = Script::with(store, id, Policy { expire_after, ..Policy::ROLLING });
    script.create().await;
    script
}

/// Checks which conversations are due this many microseconds after [`START`].
async fn assert_due(store: &Arc<dyn Store>, micros: i64, limit: usize, expected: &[&str]) {
    let due = store.due(Timestamp(START.0 + micros), limit).await.unwrap();
    let ids: Vec<_> = due.iter().map(|Due::Expired(key)| key.id.as_str()).collect();
    assert_eq!(ids, expected);
}
