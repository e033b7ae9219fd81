//! Room for connections: who makes room, and who is told that there is none.

use std::process::Command;

use tokio::{io::AsyncReadExt, net::TcpStream};
use tonic::{Request, Streaming, transport::Channel};
use tonic_health::pb::{HealthCheckRequest, HealthCheckResponse, health_client::HealthClient};
use utterd::proto::{
    GetCapacityInfoRequest, WatchEventsRequest, WatchEventsResponse,
    memory_service_client::MemoryServiceClient, trace_service_client::TraceServiceClient,
};

use crate::{
    connections::client::channel,
    support::binary::{CREDENTIALS, Outcome, Server, token},
};

const ROOM: usize = 4;

fn server() -> Server {
    Server::start(&["--max-connections", &ROOM.to_string()])
}

async fn tcp(server: &Server) -> TcpStream {
    TcpStream::connect(&server.address).await.expect("it listens")
}

/// A connection that has made a call.
async fn called(server: &Server) -> Channel {
    let channel = channel(server).await;
    let mut memory = MemoryServiceClient::new(channel.clone());
    memory.get_capacity_info(GetCapacityInfoRequest::default()).await.expect("a client that calls is let in");
    channel
}

/// A connection with a call in progress.
async fn watching(server: &Server) -> Streaming<WatchEventsResponse> {
    let mut trace = TraceServiceClient::new(channel(server).await);
    trace.watch_events(WatchEventsRequest::default()).await.expect("it is watched").into_inner()
}

/// Idle connections keep nobody out, whether they have started HTTP/2 or not.
#[tokio::test]
async fn idle_connections_make_room() {
    let server = server();
    let mut idle = Vec::new();
    for _ in 0..5 * ROOM {
        let (client, connection) = h2::client::handshake(tcp(&server).await).await.expect("it is sent");
        idle.push((client, tokio::spawn(connection)));
    }
    let mut silent = tcp(&server).await;
    let mut kept = vec![called(&server).await];
    let (_client, first) = idle.swap_remove(0);
    let _ = first.await.expect("the idlest is closed");
    for _ in 0..ROOM {
        kept.push(called(&server).await);
    }
    silent.read_to_end(&mut Vec::new()).await.expect("it is closed");
}

/// A connection with a call is not closed for another one, which is closed before it is established: so a client waits
/// for longer before each attempt.
#[tokio::test]
async fn what_finds_no_room_is_closed() {
    let server = server();
    let mut all = Vec::new();
    for _ in 0..ROOM {
        all.push(watching(&server).await);
    }
    let mut refused = tcp(&server).await;
    let mut told = Vec::new();
    let _ = refused.read_to_end(&mut told).await;
    assert!(told.is_empty(), "{told:?}");
    all.truncate(ROOM - 1);
    while !is_answered(&server).await {}
}

/// A connection with a watch of the server's health, which needs no credential.
async fn watching_health(server: &Server) -> Streaming<HealthCheckResponse> {
    let mut health = HealthClient::new(channel(server).await);
    health.watch(HealthCheckRequest::default()).await.expect("it is watched").into_inner()
}

/// Runs a command without holding up the connections of the test.
async fn run(mut command: Command) -> Outcome {
    tokio::task::spawn_blocking(move || Outcome::of(&mut command)).await.expect("it ran")
}

/// Watches of the server's health, as many as there are connections, keep out nobody.
#[tokio::test]
async fn health_watches_make_room() {
    for is_guarded in [true, false] {
        let directory = tempfile::tempdir().expect("a directory");
        let token = token(directory.path(), "a", "read-write", &[]);
        let room = ROOM.to_string();
        let mut flags = vec!["--max-connections", &room];
        if is_guarded {
            flags.extend(["--credentials", CREDENTIALS]);
        }
        let server = Server::start_in(directory, &flags);
        let command = |arguments: &[&str]| {
            let mut command = server.command(arguments);
            if is_guarded {
                command.env("UTTERD_TOKEN", &token);
            }
            command
        };
        let mut request = Request::new(WatchEventsRequest::default());
        if is_guarded {
            request.metadata_mut().insert("authorization", format!("Bearer {token}").parse().expect("text"));
        }
        let mut known = TraceServiceClient::new(channel(&server).await);
        let mut events = known.watch_events(request).await.expect("it is watched").into_inner();
        let mut watches = Vec::new();
        for _ in 0..3 * ROOM {
            watches.push(watching_health(&server).await);
        }
        run(server.command(&["health", "--live"])).await.worked();
        run(command(&["memorize", "hello"])).await.worked();
        assert!(events.message().await.expect("a known caller stays").is_some());
        let mut first = watches.swap_remove(0);
        while let Ok(told) = first.message().await {
            assert!(told.is_some(), "it ends as if the server did");
        }
    }
}

/// Whether a call on a new connection is answered.
async fn is_answered(server: &Server) -> bool {
    let Ok((client, connection)) = h2::client::handshake(tcp(server).await).await else { return false };
    tokio::spawn(connection);
    let request = http::Request::post("http://utterd/none").body(()).expect("a request");
    let answer = async {
        let (response, _) = client.ready().await?.send_request(request, true)?;
        response.await
    };
    answer.await.is_ok()
}
