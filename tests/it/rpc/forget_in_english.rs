//! Forget in plain English: what is refused as too much, and times.

use std::time::Duration;

use prost_types::Timestamp;
use tonic::Code;
use utterd::proto::{ForgetMode, ForgetRequest, ForgetResponse, NewUtterance, WarningKind};

use crate::support::session::{Reply, Session, assistant, calls, forget, result, sequences, user};

/// The response to a dry run.
async fn rehearsed(session: &Session, instructions: &str) -> ForgetResponse {
    let dry = ForgetRequest { dry_run: true, ..forget(instructions, ForgetMode::Soft) };
    session.memory().forget(dry).await.reply()
}

#[tokio::test]
async fn a_sentence_forgets_no_more_than_half_of_the_window() {
    let session = Session::new().await;
    session.say_many(9).await;
    for (sentence, form, selected) in [
        ("forget what I said", "speaker:user", 9),
        ("forget everything", "all", 9),
        ("forget everything after turn 4", "after:turn_4", 5),
        ("forget the last five messages", "last:5", 5),
        ("forget everything from today", "since:2026-03-01 before:2026-03-02", 9),
    ] {
        for mode in [ForgetMode::Soft, ForgetMode::Hard] {
            let refused = session.memory().forget(forget(sentence, mode)).await.refusal();
            let refused =
                refused.is(Code::FailedPrecondition, "INSTRUCTION_TOO_BROAD").blames("instructions");
            refused.says(&format!("{selected} of the 9 utterances")).says(&format!("send {form}"));
        }
        let told = rehearsed(&session, sentence).await;
        assert_eq!((told.understood_as.as_str(), told.forgotten.len()), (form, selected), "{sentence}");
        let kinds: Vec<_> = told.warnings.iter().map(|warning| warning.kind()).collect();
        assert_eq!(kinds, [WarningKind::WouldBeRefused], "{sentence}");
        assert!(rehearsed(&session, form).await.warnings.is_empty(), "{form}");
    }
    assert_eq!(session.capacity().await.revision, 9, "nothing was forgotten");
    assert_eq!(session.forget("forget the last four messages", ForgetMode::Soft).await.forgotten.len(), 4);
    session
        .memory()
        .forget(forget("forget turns 1 to 3", ForgetMode::Soft))
        .await
        .refusal()
        .is(Code::FailedPrecondition, "INSTRUCTION_TOO_BROAD")
        .says("3 of the 5 utterances");
    assert_eq!(session.forget("speaker:user", ForgetMode::Soft).await.forgotten.len(), 5);
}

/// A single exchange is what was meant, however small the window is.
#[tokio::test]
async fn a_sentence_may_forget_the_only_exchange() {
    let session = Session::new().await;
    session.say(vec![calls(&["w"]), result("w", "sunny"), assistant("Sunny.")]).await;
    let forgotten = session.forget("forget the tool results", ForgetMode::Soft).await;
    assert_eq!(sequences(&forgotten.forgotten), [1, 2]);
    assert_eq!(sequences(&session.forget("scratch that", ForgetMode::Soft).await.forgotten), [0_i64; 0]);
    assert_eq!(sequences(&session.forget("forget the last message", ForgetMode::Hard).await.forgotten), [3]);
}

/// Said on 27 February, at 10 and 23 o'clock of the 28th, and now: at noon of 1 March 2026.
async fn days() -> Session {
    let session = Session::new().await;
    let at = |text: &str, seconds| {
        let create_time = Some(Timestamp { seconds, nanos: 0 });
        NewUtterance { create_time, ..user(text) }
    };
    let midnight = 1_772_323_200;
    session
        .say(vec![
            at("The lamp is red.", midnight - 30 * 3_600),
            at("The door is blue.", midnight - 14 * 3_600),
            at("The roof is grey.", midnight - 3_600),
            at("The lamp is gone.", midnight + 11 * 3_600),
            user("The door is open."),
        ])
        .await;
    session
}

#[tokio::test]
async fn times_are_in_utc() {
    let session = days().await;
    for (instructions, understood_as, selected) in [
        ("forget today", "since:2026-03-01 before:2026-03-02", &[4_i64, 5][..]),
        ("forget what I said yesterday", "speaker:user since:2026-02-28 before:2026-03-01", &[2, 3]),
        ("forget everything before February 28", "before:2026-02-28", &[1]),
        ("forget everything since 11 am", "since:2026-03-01T11:00:00Z", &[4, 5]),
        ("forget everything since 11:01", "since:2026-03-01T11:01:00Z", &[5]),
        ("forget everything older than a day", "before:2026-02-28T12:00:00Z", &[1, 2]),
        ("forget the last hour", "since:2026-03-01T11:00:00Z", &[4, 5]),
        (
            "forget everything I said about lamps and roofs",
            "speaker:user about:\"lamps\",\"roofs\"",
            &[1, 3, 4],
        ),
        ("since:2026-03-01T12:00:00Z", "since:2026-03-01T12:00:00Z", &[5]),
        ("before:2026-02-28T23:00:00Z", "before:2026-02-28T23:00:00Z", &[1, 2]),
        (
            "before:2026-02-28T23:00:01Z about:\"lamp\",\"roof\"",
            "before:2026-02-28T23:00:01Z about:\"lamp\",\"roof\"",
            &[1, 3],
        ),
    ] {
        let told = rehearsed(&session, instructions).await;
        assert_eq!(
            (told.understood_as.as_str(), &*sequences(&told.forgotten)),
            (understood_as, selected),
            "{instructions}"
        );
        let again = rehearsed(&session, &told.understood_as).await;
        assert_eq!(again.forgotten, told.forgotten, "{instructions}");
    }
}

/// The outcome of a call is kept, and so is the interpretation of its instruction.
#[tokio::test]
async fn a_repeated_request_means_the_day_of_the_first() {
    let session = days().await;
    for (id, sentence) in
        [("some", "forget what I said yesterday"), ("none", "forget what you said yesterday")]
    {
        let request = ForgetRequest { request_id: id.to_owned(), ..forget(sentence, ForgetMode::Soft) };
        let first = session.memory().forget(request.clone()).await.reply();
        session.clock.advance(Duration::from_secs(20 * 3_600));
        let again = session.memory().forget(request).await.reply();
        assert!(again.replayed && first.understood_as.contains("since:"), "{again:?}");
        assert_eq!(ForgetResponse { replayed: false, capacity: first.capacity.clone(), ..again }, first);
    }
}
