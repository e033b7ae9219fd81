//! What happens to calls on a connection when the server stops.

use std::{
    io,
    pin::Pin,
    sync::atomic::{AtomicBool, Ordering},
    task::{Context, Poll},
};

use bytes::Bytes;
use futures::{StreamExt, stream};
use prost::Message;
use tokio::{
    io::{AsyncRead, AsyncWrite, DuplexStream, ReadBuf, duplex},
    sync::{mpsc, oneshot},
    task::JoinHandle,
};
use tokio_stream::wrappers::UnboundedReceiverStream;
use utterd::{
    proto::{
        memorize_stream_response::Result as Outcome, memory_service_client::MemoryServiceClient,
        trace_service_client::TraceServiceClient,
    },
    server::Server,
};

use crate::support::{channel, prelude::*};

/// A connection, and its server.
struct Serving {
    near: DuplexStream,
    end: oneshot::Sender<()>,
    ended: JoinHandle<()>,
}

fn serve(server: &Server) -> Serving {
    let (near, far) = duplex(1 << 20);
    let (end, asked_to_end) = oneshot::channel();
    let incoming = stream::iter([Ok(far)]).chain(stream::pending());
    let serving = server.clone().serve_connections(incoming, async {
        let _ = asked_to_end.await;
    });
    Serving { near, end, ended: tokio::spawn(serving) }
}

/// A client's end of a pipe that is not read until the client is allowed to.
struct Deaf {
    near: DuplexStream,
    hears: Arc<AtomicBool>,
}

impl AsyncRead for Deaf {
    /// Allowing it wakes it again.
    fn poll_read(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        match self.hears.load(Ordering::Relaxed) {
            true => Pin::new(&mut self.near).poll_read(context, buffer),
            false => Poll::Pending,
        }
    }
}

impl AsyncWrite for Deaf {
    fn poll_write(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        Pin::new(&mut self.near).poll_write(context, bytes)
    }

    fn poll_flush(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.near).poll_flush(context)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.near).poll_shutdown(context)
    }
}

fn is_closing(status: Status) {
    Refused::new(status).is(Code::Unavailable, "SERVER_CLOSING");
}

/// The write in progress when the server is asked to stop is answered; then the client is told to retry the
/// rest.
#[tokio::test]
async fn a_stream_ends_with_unavailable_after_its_last_answer() {
    let gate = Gate::new();
    let session = Session::over(gate.clone()).await;
    let Serving { near, end, ended } = serve(&session.server);
    let mut memory = MemoryServiceClient::new(channel(near).await);
    let (sender, messages) = mpsc::unbounded_channel();
    let send = |text: &str| {
        let memorize = Some(memorize(vec![user(text)]));
        sender.send(MemorizeStreamRequest { memorize, ..Default::default() }).expect("it is listened to");
    };
    let mut responses = memory.memorize_stream(UnboundedReceiverStream::new(messages)).await.reply();
    send("first");
    assert!(responses.message().await.unwrap().is_some());
    gate.shut();
    send("second");
    gate.holds(1).await;
    send("third");
    session.server.close();
    end.send(()).expect("it serves");
    settle().await;
    gate.open();
    let mut answered = 1;
    let status = loop {
        match responses.message().await {
            Ok(Some(response)) => {
                let Some(Outcome::Memorized(response)) = response.result else { panic!("{response:?}") };
                answered += 1;
                assert_eq!(response.memorized[0].sequence, answered);
            }
            Ok(None) => panic!("it ends as if all were done"),
            Err(status) => break status,
        }
    };
    is_closing(status);
    assert!(answered >= 2, "what was being written is answered");
    assert_eq!(session.stored().await.len() as i64, answered, "and whatever took effect");
    drop((memory, sender, responses));
    ended.await.unwrap();
}

#[tokio::test]
async fn watches_end_with_unavailable() {
    let session = Session::new().await;
    let Serving { near, end, ended } = serve(&session.server);
    let channel = channel(near).await;
    let mut memory = MemoryServiceClient::new(channel.clone());
    let mut trace = TraceServiceClient::new(channel);
    let mut capacity = memory.watch_capacity(WatchCapacityRequest::default()).await.reply();
    let mut events = trace.watch_events(WatchEventsRequest::default()).await.reply();
    assert!(capacity.message().await.unwrap().is_some());
    assert!(events.message().await.unwrap().is_some());
    session.server.close();
    end.send(()).expect("it serves");
    is_closing(capacity.message().await.unwrap_err());
    is_closing(loop {
        match events.message().await {
            Ok(event) => assert!(event.is_some(), "it ends as if all were said"),
            Err(status) => break status,
        }
    });
    drop((memory, trace, capacity, events));
    ended.await.unwrap();
}

/// The server has announced its shutdown, and the client calls before it has read that.
#[tokio::test]
async fn a_call_on_its_way_is_answered() {
    let session = Session::new().await;
    let Serving { near, end, ended } = serve(&session.server);
    let hears = Arc::new(AtomicBool::new(false));
    let deaf = Deaf { near, hears: hears.clone() };
    let (mut client, mut connection) = h2::client::handshake(deaf).await.unwrap();
    settle().await;
    end.send(()).expect("it serves");
    settle().await;
    let request = http::Request::post("http://utterd.test/utterd.v1.MemoryService/Memorize")
        .header("content-type", "application/grpc")
        .header("te", "trailers");
    let (response, mut body) = client.send_request(request.body(()).unwrap(), false).unwrap();
    let message = memorize(vec![user("on its way")]).encode_to_vec();
    let framed = [&[0][..], &(message.len() as u32).to_be_bytes(), &message].concat();
    body.send_data(Bytes::from(framed), true).unwrap();
    assert!(futures::poll!(&mut connection).is_pending(), "it is sent");
    hears.store(true, Ordering::Relaxed);
    let connection = tokio::spawn(connection);
    let mut response = response.await.unwrap().into_body();
    while let Some(data) = response.data().await {
        let length = data.unwrap().len();
        response.flow_control().release_capacity(length).unwrap();
    }
    let trailers = response.trailers().await.unwrap().expect("trailers");
    assert_eq!(trailers.get("grpc-status").unwrap(), "0");
    assert_eq!(session.stored().await[0].content, "on its way");
    drop((client, body, response));
    connection.await.unwrap().unwrap();
    ended.await.unwrap();
}
