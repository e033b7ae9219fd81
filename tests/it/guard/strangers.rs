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

/// Far more watches than strangers can have: the others are refused, and nobody else is.
#[tokio::test]
async fn health_watches_take_a_small_part_of_the_streams() {
    const CONNECTIONS: u64 = 8;
    const EACH: usize = 100;
    let server = Guarded::with(&entry("one", "shop-1", "read-write", "token-1")).await;
    let (mut watches, mut channels, mut refused) = (Vec::<Watch>::new(), Vec::new(), 0);
    for number in 1..=CONNECTIONS {
        let channel = server.connect_as(Peer::new(number, None)).await;
        for _ in 0..EACH {
            let mut health = HealthClient::new(channel.clone());
            match health.watch(HealthCheckRequest::default()).await {
                Ok(watch) => watches.push(watch.into_inner()),
                Err(status) => {
                    Refused::new(status).is(Code::ResourceExhausted, "TOO_MANY_CALLS").says("credential");
                    refused += 1;
                }
            }
        }
        channels.push(channel);
    }
    assert!((100..=512).contains(&watches.len()) && refused > 0, "{} are open", watches.len());
    server.call(LIST, &bearer("token-1")).await.expect("they take nothing from known callers");
    for channel in [channels[0].clone(), server.channel()] {
        call(channel, CHECK, &http::HeaderMap::new()).await.expect("health is always told");
    }
    for watch in &mut watches {
        assert!(watch.message().await.expect("it goes on").is_some());
    }
}
