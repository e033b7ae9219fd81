//! Messages of a few bytes, each in its own frame, that arrive faster than they are read.

use futures::{StreamExt, stream};
use prost::Message as _;
use tokio::io::{AsyncReadExt, AsyncWriteExt, DuplexStream, duplex};
use utterd::proto::memorize_stream_response::Result as Outcome;

use crate::support::prelude::*;

/// As many as fit in the 64 KiB that a client can send on a stream before it hears from the server.
const COUNT: usize = 4_000;

const DATA: u8 = 0;
const HEADERS: u8 = 1;
const SETTINGS: u8 = 4;
const PING: u8 = 6;
const GOAWAY: u8 = 7;
const WINDOW_UPDATE: u8 = 8;
const END_STREAM: u8 = 1;
const END_HEADERS: u8 = 4;
const INITIAL_WINDOW_SIZE: u8 = 4;
const LARGEST_WINDOW: u32 = (1 << 31) - 1;

fn frame(kind: u8, flags: u8, stream: u8, payload: &[u8]) -> Vec<u8> {
    let [_, length @ ..] = u32::try_from(payload.len()).unwrap().to_be_bytes();
    [&length[..], &[kind, flags, 0, 0, 0, stream], payload].concat()
}

/// A client's first bytes: it accepts everything, and calls MemorizeStream.
fn hello() -> Vec<u8> {
    let window = LARGEST_WINDOW.to_be_bytes();
    let more = (LARGEST_WINDOW - 65_535).to_be_bytes();
    let call = [
        (":method", "POST"),
        (":scheme", "http"),
        (":path", "/utterd.v1.MemoryService/MemorizeStream"),
        (":authority", "utterd"),
        ("content-type", "application/grpc"),
        ("te", "trailers"),
    ];
    let headers = call.map(|(name, value)| literal(name, value)).concat();
    [
        b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n".to_vec(),
        frame(SETTINGS, 0, 0, &[&[0, INITIAL_WINDOW_SIZE], &window[..]].concat()),
        frame(WINDOW_UPDATE, 0, 0, &more),
        frame(HEADERS, END_HEADERS, 1, &headers),
    ]
    .concat()
}

/// A literal header, in no table (RFC 7541, 6.2.2).
fn literal(name: &str, value: &str) -> Vec<u8> {
    let lengths = [name, value].map(|text| u8::try_from(text.len()).unwrap());
    [&[0, lengths[0]], name.as_bytes(), &[lengths[1]], value.as_bytes()].concat()
}

fn grpc_message(message: &MemorizeStreamRequest) -> Vec<u8> {
    let length = u32::try_from(message.encoded_len()).unwrap();
    [&[0], &length.to_be_bytes()[..], &message.encode_to_vec()].concat()
}

/// The type of the next frame, and its payload.
async fn next(connection: &mut DuplexStream) -> (u8, Vec<u8>) {
    let mut head = [0; 9];
    connection.read_exact(&mut head).await.expect("the connection goes on");
    let mut payload = vec![0; u32::from_be_bytes([0, head[0], head[1], head[2]]) as usize];
    connection.read_exact(&mut payload).await.expect("the connection goes on");
    assert_ne!(head[3], GOAWAY, "{}", String::from_utf8_lossy(&payload));
    (head[3], payload)
}

/// The complete gRPC messages at the front of `bytes`.
fn taken(bytes: &mut Vec<u8>) -> Vec<MemorizeStreamResponse> {
    let mut messages = Vec::new();
    while let Some(length) = bytes.get(1..5).map(|length| u32::from_be_bytes(length.try_into().unwrap())) {
        let end = 5 + length as usize;
        if bytes.len() < end {
            break;
        }
        messages.push(MemorizeStreamResponse::decode(&bytes[5..end]).unwrap());
        bytes.drain(..end);
    }
    messages
}

/// Each frame costs h2 far more than its size. All of them wait, as the store does not answer; the connection
/// lives, and each message is answered in the end.
#[tokio::test]
async fn messages_of_a_few_bytes_wait_until_they_are_read() {
    let gate = Gate::new();
    let session = Session::over(gate.clone()).await;
    let (mut near, far) = duplex(1 << 20);
    let incoming = stream::iter([Ok(far)]).chain(stream::pending());
    tokio::spawn(session.server.clone().serve_connections(incoming, std::future::pending()));

    gate.shut();
    let message = grpc_message(&MemorizeStreamRequest {
        memorize: Some(memorize(vec![user("x")])),
        ..Default::default()
    });
    let mut sent = hello();
    (1..COUNT).for_each(|_| sent.extend(frame(DATA, 0, 1, &message)));
    sent.extend(frame(DATA, END_STREAM, 1, &message));
    sent.extend(frame(PING, 0, 0, b"all sent"));
    near.write_all(&sent).await.unwrap();
    while next(&mut near).await.0 != PING {}
    gate.holds(1).await;
    gate.open();

    let (mut bytes, mut revisions) = (Vec::new(), Vec::new());
    while revisions.len() < COUNT {
        let (kind, payload) = next(&mut near).await;
        if kind == DATA {
            bytes.extend(payload);
        }
        revisions.extend(taken(&mut bytes).into_iter().map(|response| match response.result {
            Some(Outcome::Memorized(response)) => response.memorized[0].sequence,
            other => panic!("it was not memorized: {other:?}"),
        }));
    }
    assert_eq!(revisions, (1..=COUNT as i64).collect::<Vec<_>>());
}
