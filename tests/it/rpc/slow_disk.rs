//! A stalled disk: calls end in time, reads go on, the backlog is bounded, and nothing is stored twice.

use tokio::task::JoinHandle;
use tonic::{IntoRequest, Response};

use crate::support::prelude::*;

type Call = JoinHandle<Result<Response<MemorizeResponse>, Status>>;

/// Its call is in the queue when this returns.
async fn start(session: &Session, request: impl IntoRequest<MemorizeRequest>) -> Call {
    let (mut memory, request) = (session.memory(), request.into_request());
    let call = tokio::spawn(async move { memory.memorize(request).await });
    settle().await;
    call
}

async fn contents(session: &Session) -> Vec<String> {
    session.stored().await.into_iter().map(|utterance| utterance.content).collect()
}

#[tokio::test(start_paused = true)]
async fn calls_end_in_time_reads_go_on_and_all_is_written_once() {
    let gate = Gate::new();
    let settings = Settings { max_call_duration: Duration::from_secs(10), ..Settings::default() };
    let session = Session::over_with(gate.clone(), &settings).await;
    session.say(vec![user("stored")]).await;
    let in_other =
        |text: &str| MemorizeRequest { conversation_id: "other".to_owned(), ..memorize(vec![user(text)]) };
    session.memory().memorize(in_other("stored elsewhere")).await.reply();
    gate.shut();
    let named = MemorizeRequest { request_id: "r".to_owned(), ..memorize(vec![user("three")]) };
    let mut hurried = Request::new(memorize(vec![user("two")]));
    hurried.set_timeout(Duration::from_secs(1));
    let one = start(&session, memorize(vec![user("one")])).await;
    let hurried = start(&session, hurried).await;
    let three = start(&session, named.clone()).await;
    let other = start(&session, in_other("waits elsewhere")).await;
    assert_eq!(hurried.await.unwrap().unwrap_err().code(), Code::DeadlineExceeded);
    for call in [one, three, other] {
        let refused = Refused::new(call.await.unwrap().unwrap_err());
        refused.is(Code::DeadlineExceeded, "DEADLINE_EXCEEDED").says("may have taken effect");
    }
    assert_eq!(contents(&session).await, ["stored"]);
    assert_eq!(session.capacity().await.revision, 1);
    gate.open();
    session.say(vec![user("last")]).await;
    assert_eq!(contents(&session).await, ["stored", "one", "two", "three", "last"]);
    let again = session.memory().memorize(named).await.reply();
    assert_eq!(again.memorized[0].sequence, 4);
    assert_eq!(contents(&session).await.len(), 5);
}

/// Callers whose calls have ended retry, while their earlier requests are still in the queue.
#[tokio::test(start_paused = true)]
async fn writes_whose_callers_have_gone_make_room() {
    const CALLS: usize = 400;
    let gate = Gate::new();
    let settings = Settings { max_call_duration: Duration::from_secs(1), ..Settings::default() };
    let session = Session::over_with(gate.clone(), &settings).await;
    session.say(vec![user("stored")]).await;
    gate.shut();
    // more in total than can wait at one time
    for _ in 0..4 {
        let call = |_| {
            let mut memory = session.memory();
            tokio::spawn(async move { memory.memorize(memorize(vec![user("waits")])).await })
        };
        for call in (0..CALLS).map(call).collect::<Vec<_>>() {
            let refused = Refused::new(call.await.unwrap().unwrap_err());
            refused.is(Code::DeadlineExceeded, "DEADLINE_EXCEEDED");
        }
    }
    assert_eq!(gate.changes(), 1, "one is being written, and the others wait for it");
    gate.open();
    session.say(vec![user("last")]).await;
    let written = session.capacity().await.revision - 2;
    assert!(written < 2 * CALLS as i64, "{written} were written of {} for nobody", 4 * CALLS);
}
