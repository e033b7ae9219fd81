//! How often the server allocates for a call. The counts are exact, and no clock is involved.
#![allow(clippy::unwrap_used)]

use std::{future::ready, sync::mpsc, thread};

use hyper_util::rt::TokioIo;
use tokio::{runtime::Builder, sync::oneshot};
use tonic::transport::{Channel, Endpoint};
use tower::service_fn;
use utterd::{
    config::Settings,
    proto::{
        CreateConversationRequest, GetCapacityInfoRequest, MemorizeRequest, NewUtterance, Policy,
        PolicyPreset, Role, conversation_service_client::ConversationServiceClient,
        memory_service_client::MemoryServiceClient,
    },
    server::{Connector, InProcess},
};

/// The calls that are counted, and as many before them that are not.
const CALLS: usize = 250;

/// What people and agents say.
const SAYINGS: [&str; 5] = [
    "Could you move my flight HAT136 from New York to Chicago on May 23 to the morning, please?",
    "I found two options on 2024-05-23: HAT045 at 07:00 for $221 and HAT227 at 09:30 for $198.",
    "The build fails in src/engine/lane.rs:118 with error E0382: `ticket` is moved before the loop.",
    "Thanks. Please charge the difference to gift_card_8887175, then send me the confirmation.",
    "I have updated reservation 4WQ150: one passenger, no insurance; the refund takes 5 to 7 days.",
];

#[derive(Clone, Copy, Debug)]
enum Call {
    Capacity,
    Memorize(PolicyPreset),
}

#[test]
fn a_call_allocates_little() {
    for (call, most) in [
        (Call::Capacity, 39.0),
        (Call::Memorize(PolicyPreset::Session), 67.0),
        (Call::Memorize(PolicyPreset::Rolling), 153.0),
    ] {
        // what all servers of a process share is made by the first calls
        let [_, few, many] = [CALLS, CALLS, 2 * CALLS].map(|calls| allocations(call, calls));
        let each = (many - few) as f64 / CALLS as f64;
        assert!(each <= most, "{call:?}: {each} allocations; at most {most} are expected");
    }
}

/// The allocations of the server's thread, from its start to its end, if `calls` of a kind are made.
fn allocations(call: Call, calls: usize) -> u64 {
    let (started, starts) = mpsc::channel();
    let server = thread::spawn(move || {
        let serve = || {
            let runtime = Builder::new_current_thread().enable_all().build().unwrap();
            runtime.block_on(async {
                let server = InProcess::start(&Settings::default()).await.unwrap();
                let (end, ends) = oneshot::channel::<()>();
                started.send((server.connector(), end)).unwrap();
                let _ = ends.await;
                server.end().await;
            });
        };
        allocation_counter::measure(serve).count_total
    });
    let (connector, end) = starts.recv().unwrap();
    let runtime = Builder::new_current_thread().enable_all().build().unwrap();
    runtime.block_on(make(call, calls, connector));
    drop(runtime); // and the connection with it
    end.send(()).unwrap();
    server.join().unwrap()
}

async fn make(call: Call, calls: usize, connector: Connector) {
    let connect = service_fn(move |_| ready(connector.connect().map(TokioIo::new)));
    let endpoint = Endpoint::from_static("http://in-process");
    let channel: Channel = endpoint.connect_with_connector(connect).await.unwrap();
    let mut memory = MemoryServiceClient::new(channel.clone());
    let conversation_id = "c".to_owned();
    if let Call::Memorize(preset) = call {
        let policy = Some(Policy { preset: preset.into(), ..Default::default() });
        let create = CreateConversationRequest {
            conversation_id: conversation_id.clone(),
            policy,
            ..Default::default()
        };
        ConversationServiceClient::new(channel).create_conversation(create).await.unwrap();
    }
    for index in 0..calls {
        let conversation_id = conversation_id.clone();
        match call {
            Call::Capacity if index > 0 => {
                let request = GetCapacityInfoRequest { conversation_id, ..Default::default() };
                memory.get_capacity_info(request).await.unwrap();
            }
            Call::Capacity | Call::Memorize(_) => {
                let role = if index % 2 == 0 { Role::User } else { Role::Assistant };
                let content = SAYINGS[index % SAYINGS.len()].to_owned();
                let said = NewUtterance { role: role.into(), content, ..Default::default() };
                let request =
                    MemorizeRequest { conversation_id, utterances: vec![said], ..Default::default() };
                memory.memorize(request).await.unwrap();
            }
        }
    }
}
