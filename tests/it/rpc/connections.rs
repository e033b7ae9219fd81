//! What happens to idle connections, on the test's clock.

use std::time::Duration;

use futures::{StreamExt, stream};
use tokio::{
    io::{AsyncReadExt, AsyncWriteExt, DuplexStream, duplex},
    time::Instant,
};

use crate::support::session::Session;

/// The client's end of a connection that is being served.
async fn connect() -> DuplexStream {
    let session = Session::new().await;
    let (near, far) = duplex(1 << 16);
    let incoming = stream::iter([Ok(far)]).chain(stream::pending());
    tokio::spawn(session.server.serve_connections(incoming, std::future::pending()));
    near
}

/// When the server closes `connection`, and what it sent.
async fn closed(mut connection: DuplexStream) -> (Duration, Vec<u8>) {
    let (started, mut said) = (Instant::now(), Vec::new());
    connection.read_to_end(&mut said).await.unwrap();
    (started.elapsed(), said)
}

#[tokio::test(start_paused = true)]
async fn a_client_that_says_nothing_is_let_go() {
    let (after, _) = closed(connect().await).await;
    assert!((10..11).contains(&after.as_secs()), "{after:?}");
}

#[tokio::test(start_paused = true)]
async fn so_is_one_that_begins_to_say_something() {
    let mut connection = connect().await;
    connection.write_all(b"PRI * HTTP/2.0\r\n").await.unwrap();
    let (after, _) = closed(connection).await;
    assert!((10..11).contains(&after.as_secs()), "{after:?}");
}

/// It is pinged twice a minute.
#[tokio::test(start_paused = true)]
async fn a_client_that_is_gone_is_let_go() {
    let mut connection = connect().await;
    connection.write_all(b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n\0\0\0\x04\0\0\0\0\0").await.unwrap();
    let (after, _) = closed(connection).await;
    assert!((49..52).contains(&after.as_secs()), "{after:?}");
}

#[tokio::test(start_paused = true)]
async fn a_client_without_a_call_is_let_go_after_an_hour() {
    let (_client, connection) = h2::client::handshake(connect().await).await.unwrap();
    let started = Instant::now();
    connection.await.unwrap();
    let minutes = started.elapsed().as_secs() / 60;
    assert!((60..62).contains(&minutes), "{minutes}");
}
