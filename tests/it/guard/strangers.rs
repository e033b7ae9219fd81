//! What callers without a credential can hold.

use tonic::{Code, Streaming};
use tonic_health::pb::{HealthCheckRequest, HealthCheckResponse, health_client::HealthClient};
use utterd::server::Peer;

use crate::{
    guard::guarded::{Guarded, bearer, call, entry},
    support::refusal::Refused,
};

const LIST: &str = "/utterd.v1.ConversationService/ListConversations";
const CHECK: &str = "/grpc.health.v1.Health/Check";

type Watch = Streaming<HealthCheckResponse>;

/// Far more watches than there is memory for, had each its own: the oldest end, and nobody else is refused.
#[tokio::test]
async fn health_watches_take_a_small_part_of_the_memory() {
    const CONNECTIONS: u64 = 12;
    const EACH: usize = 500;
    let server = Guarded::with(&entry("one", "shop-1", "read-write", "token-1")).await;
    let (mut watches, mut channels) = (Vec::<Watch>::new(), Vec::new());
    for number in 1..=CONNECTIONS {
        let channel = server.connect_as(Peer::new(number, None)).await;
        for _ in 0..EACH {
            let mut health = HealthClient::new(channel.clone());
            let watch = health.watch(HealthCheckRequest::default()).await.expect("a new one is accepted");
            watches.push(watch.into_inner());
        }
        channels.push(channel);
    }
    server.call(LIST, &bearer("token-1")).await.expect("they take nothing from known callers");
    for channel in [channels[0].clone(), server.channel()] {
        call(channel, CHECK, &http::HeaderMap::new()).await.expect("health is always told");
    }
    let mut open = 0;
    for watch in &mut watches {
        match ended(watch).await {
            Some(refused) => drop(refused.is(Code::ResourceExhausted, "TOO_MANY_CALLS").says("credential")),
            None => open += 1,
        }
    }
    assert!((100..1_000).contains(&open), "{open} are open");
    drop(watches);
}

/// How a watch ended; `None` if it goes on after the first message, which says how the server is.
async fn ended(watch: &mut Watch) -> Option<Refused> {
    use futures::FutureExt as _;
    loop {
        match watch.message().now_or_never()? {
            Ok(Some(_)) => {}
            Ok(None) => panic!("it ends as if the server did"),
            Err(status) => return Some(Refused::new(status)),
        }
    }
}
