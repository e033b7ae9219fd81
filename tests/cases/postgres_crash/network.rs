//! The network between a server and its database fails.
//!
//! Server 0 reaches the database through a proxy, server 1 directly.

use tonic::Streaming;

use crate::{
    crash::client::Client,
    postgres_crash::{
        callers::{Work, talks},
        calls::{hello, hellos, list, memorize, saying},
        fleet::{Fleet, is_unavailable, runtime, within},
        rounds, shared, show,
    },
    support::{faults::Proxy, prelude::*},
};

/// More connections than callers: none waits for another's.
const CONNECTIONS: usize = 40;
/// How much later everything arrives, in each direction.
const DELAY: Duration = Duration::from_millis(3);
/// Acknowledged writes before and after something happens.
const ANSWERS: usize = 30;

/// Everything takes its time.
pub fn packets_are_late() -> Result<(), String> {
    under_load(async |proxy, work| {
        proxy.delay(DELAY);
        work.goes_on(ANSWERS).await;
    })
}

/// All connections are closed, again and again.
pub fn connections_are_cut() -> Result<(), String> {
    under_load(async |proxy, work| {
        for _ in 0..rounds(10) {
            proxy.cut();
            work.goes_on(ANSWERS / 3).await;
        }
    })
}

/// Nothing arrives, for longer than it may take to open a connection.
pub fn nothing_arrives_for_a_while() -> Result<(), String> {
    under_load(async |proxy, work| {
        let fleet = work.fleet();
        proxy.freeze(true);
        let late = MemorizeRequest { conversation_id: "late".into(), ..saying("too late", "late") };
        let mut request = Request::new(late.clone());
        request.set_timeout(Duration::from_millis(200));
        let refused = within("a call with a deadline", fleet.client(0).memory.memorize(request)).await;
        let code = refused.expect_err("nothing arrives").code();
        // either end can be the first to notice; this one calls it CANCELLED
        assert!(matches!(code, Code::DeadlineExceeded | Code::Cancelled), "{code}");
        // more than the connections that are open: the next one cannot be opened
        (0..CONNECTIONS).for_each(|_| drop(tokio::spawn(hellos(fleet.client(0)))));
        fleet.does_not_serve(0).await;
        is_unavailable(hello(fleet.client(0))).await;
        is_unavailable(hellos(fleet.client(0))).await;
        proxy.freeze(false);
        fleet.serves(0).await;
        memorize(fleet.client(0), late).await.expect("an answer");
        assert_eq!(texts(fleet.client(1), "late").await, ["too late"]);
    })
}

/// A commit takes effect and its answer is lost: the caller does not notice.
pub fn answers_to_commits_are_lost() -> Result<(), String> {
    with_proxy(CONNECTIONS, async |fleet, proxy| {
        // several statements: it creates a conversation and makes it active
        let lost = proxy.lose_next_answer(b"COMMIT");
        let first = memorize(fleet.client(0), saying("how it begins", "one")).await.expect("an answer");
        lost.await.expect("an answer is lost");
        let id = &first.conversation_id;
        assert_eq!((first.revision, first.replayed, first.started_conversation), (1, false, true));
        is_repeated(&fleet, saying("how it begins", "one"), &first).await;

        // one statement
        let lost = proxy.lose_next_answer(b"the answer is lost");
        let second = memorize(fleet.client(0), saying("the answer is lost", "two")).await.expect("an answer");
        lost.await.expect("an answer is lost");
        assert_eq!((second.revision, second.replayed), (2, false));
        is_repeated(&fleet, saying("the answer is lost", "two"), &second).await;

        // nothing that could tell a repetition
        let lost = proxy.lose_next_answer(b"without a name");
        let third = memorize(fleet.client(0), saying("without a name", "")).await.expect("an answer");
        lost.await.expect("an answer is lost");
        assert_eq!((third.revision, third.replayed), (3, false));
        let said = ["how it begins", "the answer is lost", "without a name"];
        assert_eq!(texts(fleet.client(1), id).await, said);

        let lost = proxy.lose_next_answer(b"forget-it");
        let request = ForgetRequest {
            conversation_id: id.clone(),
            instructions: "sequence:2".into(),
            mode: ForgetMode::Hard.into(),
            request_id: "forget-it".into(),
            ..Default::default()
        };
        // what is lost here is the answer to the question whether it was made before
        is_unavailable(fleet.client(0).memory.forget(request.clone())).await;
        lost.await.expect("an answer is lost");
        assert_eq!(texts(fleet.client(1), id).await, said);
        let lost = proxy.lose_next_answer(b"COMMIT");
        let forgot = fleet.client(0).memory.forget(request.clone()).await.expect("an answer").into_inner();
        lost.await.expect("an answer is lost");
        assert_eq!((forgot.revision, forgot.forgotten.len(), forgot.replayed), (4, 1, false));
        let again = fleet.client(1).memory.forget(request).await.expect("an answer").into_inner();
        assert_eq!((again.revision, again.forgotten.len(), again.replayed), (4, 1, true));
        assert_eq!(texts(fleet.client(1), id).await, ["how it begins", "without a name"]);
    })
}

/// The answer to a commit is lost, and nobody can ask what became of it until the database is back.
pub fn an_answer_is_lost_with_the_database() -> Result<(), String> {
    // all that it asks goes over the connection that is lost
    with_proxy(1, async |fleet, proxy| {
        fleet.serves(0).await;
        let first = memorize(fleet.client(0), saying("how it begins", "one")).await.expect("an answer");
        let second = saying("the answer is lost", "two");
        let lost = proxy.lose_next_answer(b"the answer is lost");
        proxy.refuse(true);
        let call = tokio::spawn(memorize(fleet.client(0), second.clone()));
        lost.await.expect("an answer is lost");
        fleet.does_not_serve(0).await;
        is_unavailable(hello(fleet.client(0))).await;
        is_repeated(&fleet, saying("how it begins", "one"), &first).await;
        proxy.refuse(false);
        let answer = call.await.expect("it does not panic").expect("an answer");
        assert_eq!((answer.revision, answer.replayed), (2, false));
        is_repeated(&fleet, second, &answer).await;
        let said = ["how it begins", "the answer is lost"];
        assert_eq!(texts(fleet.client(1), &answer.conversation_id).await, said);
    })
}

/// A commit is lost: the caller is told so, and can make it again.
pub fn commits_are_lost() -> Result<(), String> {
    with_proxy(CONNECTIONS, async |fleet, proxy| {
        let first = saying("how it begins", "one");
        let lost = proxy.lose_next_request(b"COMMIT");
        is_unavailable(memorize(fleet.client(0), first.clone())).await;
        lost.await.expect("a request is lost");
        let begun = memorize(fleet.client(1), first).await.expect("an answer");
        assert_eq!((begun.revision, begun.replayed, begun.started_conversation), (1, false, true));

        let second = saying("the request is lost", "two");
        let lost = proxy.lose_next_request(b"the request is lost");
        is_unavailable(memorize(fleet.client(0), second.clone())).await;
        lost.await.expect("a request is lost");
        assert_eq!(texts(fleet.client(0), &begun.conversation_id).await, ["how it begins"]);
        let made = memorize(fleet.client(0), second).await.expect("an answer");
        assert_eq!((made.revision, made.replayed), (2, false));
        let said = ["how it begins", "the request is lost"];
        assert_eq!(texts(fleet.client(1), &begun.conversation_id).await, said);
    })
}

/// A notification is lost, as it is if a server dies after a commit: watchers on the other hear of it all the same.
pub fn notifications_are_lost() -> Result<(), String> {
    with_proxy(CONNECTIONS, async |fleet, proxy| {
        let mut ann =
            watch(&fleet, WatchCapacityRequest { recipient_id: "ann".into(), ..Default::default() }).await;
        assert_eq!(next(&mut ann).await.revision, 0);
        let lost = proxy.lose_next_request(b"\nann\n");
        let started = MemorizeRequest { recipient_id: "ann".into(), ..saying("it starts", "one") };
        let started = memorize(fleet.client(0), started).await.expect("an answer");
        lost.await.expect("a notification is lost");
        let seen = next(&mut ann).await;
        assert_eq!((seen.conversation_id, seen.revision), (started.conversation_id, 1));

        let named = || MemorizeRequest { conversation_id: "named".into(), ..saying("it goes on", "") };
        memorize(fleet.client(0), named()).await.expect("an answer");
        let mut watched =
            watch(&fleet, WatchCapacityRequest { conversation_id: "named".into(), ..Default::default() })
                .await;
        assert_eq!(next(&mut watched).await.revision, 1);
        let lost = proxy.lose_next_request(b"\nnamed\n");
        memorize(fleet.client(0), named()).await.expect("an answer");
        lost.await.expect("a notification is lost");
        assert_eq!(next(&mut watched).await.revision, 2);
    })
}

/// A server that nobody calls notices that its database is away, and that it is back.
pub fn an_idle_server_notices_what_happens() -> Result<(), String> {
    with_proxy(CONNECTIONS, async |fleet, proxy| {
        fleet.serves(0).await;
        proxy.refuse(true);
        proxy.cut();
        fleet.does_not_serve(0).await;
        proxy.refuse(false);
        fleet.serves(0).await;
        proxy.freeze(true);
        fleet.does_not_serve(0).await;
        proxy.freeze(false);
        fleet.serves(0).await;
        hello(fleet.client(0)).await.expect("an answer");
    })
}

/// A watch on server 1.
async fn watch(fleet: &Fleet, request: WatchCapacityRequest) -> Streaming<WatchCapacityResponse> {
    fleet.client(1).memory.watch_capacity(request).await.expect("it begins").into_inner()
}

async fn next(watch: &mut Streaming<WatchCapacityResponse>) -> Capacity {
    let seen = within("a watch", watch.message()).await.expect("it goes on").expect("it goes on");
    seen.capacity.expect("a capacity")
}

/// Lets callers work on both servers, before and after `happens`.
fn under_load(happens: impl AsyncFnOnce(&Proxy, &Work)) -> Result<(), String> {
    let mut random = super::random();
    with_proxy(CONNECTIONS, async |fleet, proxy| {
        fleet.expect_outages();
        let talks = talks(&fleet, "talk").await;
        let work = Work::begin(&fleet, &talks, &mut random);
        work.goes_on(ANSWERS).await;
        happens(&proxy, &work).await;
        work.goes_on(ANSWERS).await;
        let done = work.ends().await;
        for talk in talks {
            talk.check(&fleet).await;
        }
        show(&format!("the network fails: {done}"));
    })
}

fn with_proxy(connections: usize, test: impl AsyncFnOnce(Arc<Fleet>, Proxy)) -> Result<(), String> {
    let cluster = shared()?;
    runtime().block_on(async {
        let proxy = Proxy::start(cluster.address());
        let through = cluster.url().replace(&cluster.port().to_string(), &proxy.address().port().to_string());
        let fleet = Fleet::start(&[through, cluster.url()], connections).await;
        test(fleet, proxy).await;
    });
    Ok(())
}

/// The other server returns the same outcome to the same request.
async fn is_repeated(fleet: &Fleet, request: MemorizeRequest, first: &MemorizeResponse) {
    let again = memorize(fleet.client(1), request).await.expect("an answer");
    assert_eq!((again.revision, &again.memorized, again.replayed), (first.revision, &first.memorized, true));
}

/// What a conversation holds.
async fn texts(client: Client, id: &str) -> Vec<String> {
    let request = ListUtterancesRequest { conversation_id: id.to_owned(), ..Default::default() };
    let list = list(client, request).await.expect("a list");
    list.into_iter().map(|said| said.content).collect()
}
