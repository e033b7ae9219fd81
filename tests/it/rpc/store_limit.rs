//! A full memory store refuses writes, says so, and drops nothing.

use utterd::config::Preset;

use crate::support::prelude::*;

#[tokio::test]
async fn a_full_store_refuses_and_says_so() {
    let settings = Settings { memory_limit: 64 << 10, ..Settings::of(Preset::Session) };
    let session = Session::with(&settings).await;
    let text = "word ".repeat(200);
    let mut stored = 0;
    let refused = loop {
        let before = session.cursor();
        match session.memory().memorize(memorize(vec![user(&text)])).await {
            Ok(_) => stored += 1,
            Err(status) => {
                assert_eq!(session.cursor(), before, "nothing happened");
                break crate::support::refusal::Refused::new(status);
            }
        }
        assert!(stored < 64, "64 KiB hold no 64 KB of text");
    };
    let refused = refused.is(Code::ResourceExhausted, "MEMORY_LIMIT").says("raise memory_limit");
    let quota = refused.details().quota_failure().expect("a QuotaFailure");
    assert_eq!(quota.violations[0].subject, "memory_limit");
    assert!(stored > 10, "{stored}");
    assert_eq!(session.stored().await.len(), stored, "nothing was dropped");
    session.forget("oldest", ForgetMode::Hard).await;
    session.forget("oldest", ForgetMode::Hard).await;
    let next = session.say(vec![user(&text)]).await;
    assert_eq!(next.memorized[0].sequence, stored as i64 + 1, "there is room again");
}
