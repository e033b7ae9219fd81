//! Request bodies as a server gets them from a connection: however a client frames them, each call is
//! answered and no task panics. The first byte selects the call, the second how the body is cut into pieces.
#![no_main]

use std::{convert::Infallible, sync::Arc, time::Duration};

use futures::{StreamExt, stream};
use http_body::Frame;
use http_body_util::{BodyExt, StreamBody};
use hyper_util::rt::TokioIo;
use libfuzzer_sys::fuzz_target;
use prost::Message;
use prost_types::FileDescriptorSet;
use tokio::{
    runtime::{Builder, Runtime},
    time::timeout,
};
use tonic::{
    body::Body,
    codegen::{Bytes, http},
    transport::{Channel, Endpoint},
};
use tower::{Service, ServiceExt, service_fn};
use utterd::{config::Settings, engine::SystemClock, proto::FILE_DESCRIPTOR_SET, server::Server};

/// How long to read an endless stream.
const ENOUGH: Duration = Duration::from_millis(20);
/// Calls to one server; the next server starts empty.
const CALLS: u32 = 5_000;

/// A server, a connection to it, and the paths of its calls.
struct Fuzzed {
    runtime: Runtime,
    channel: Channel,
    paths: Vec<(String, bool)>,
    calls: u32,
}

thread_local! {
    static FUZZED: std::cell::RefCell<Option<Fuzzed>> = const { std::cell::RefCell::new(None) };
}

fuzz_target!(|bytes: &[u8]| {
    let Some((&[call, piece], body)) = bytes.split_first_chunk() else { return };
    FUZZED.with_borrow_mut(|fuzzed| {
        fuzzed.take_if(|fuzzed| fuzzed.calls == CALLS);
        fuzzed.get_or_insert_with(Fuzzed::new).call(call.into(), usize::from(piece).max(1), body);
    });
});

impl Fuzzed {
    fn new() -> Self {
        let runtime = Builder::new_current_thread().enable_all().build().expect("a runtime");
        let channel = runtime.block_on(connect());
        Self { runtime, channel, paths: paths(), calls: 0 }
    }

    fn call(&mut self, call: usize, piece: usize, body: &[u8]) {
        self.calls += 1;
        let (path, streams) = &self.paths[call % self.paths.len()];
        let pieces: Vec<_> = body
            .chunks(piece)
            .map(|piece| Ok::<_, Infallible>(Frame::data(Bytes::copy_from_slice(piece))))
            .collect();
        let request = http::Request::post(format!("http://utterd.test{path}"))
            .header("content-type", "application/grpc")
            .header("te", "trailers")
            .body(Body::new(StreamBody::new(stream::iter(pieces))))
            .expect("a request");
        let channel = &mut self.channel;
        let answered = self.runtime.block_on(async {
            let answer = async {
                let response = channel.ready().await?.call(request).await?;
                Ok::<_, tonic::transport::Error>(status(response).await)
            };
            timeout(if *streams { ENOUGH } else { Duration::from_secs(10) }, answer).await
        });
        match answered {
            Ok(Ok(code)) => assert_ne!(code.as_deref(), Some("2"), "{path} answers UNKNOWN"),
            Ok(Err(error)) => panic!("{path} ends the connection: {error:?}"),
            Err(_) => assert!(*streams, "{path} is not answered"),
        }
    }
}

/// The final code of a response, in its headers or its trailers.
async fn status(response: http::Response<Body>) -> Option<String> {
    let code = |headers: &http::HeaderMap| Some(headers.get("grpc-status")?.to_str().ok()?.to_owned());
    let in_headers = code(response.headers());
    let mut body = response.into_body();
    let mut in_trailers = None;
    while let Some(Ok(frame)) = body.frame().await {
        in_trailers = frame.trailers_ref().and_then(code);
    }
    in_headers.or(in_trailers)
}

/// Every call of the server's own services, and whether it streams its responses.
fn paths() -> Vec<(String, bool)> {
    let set = FileDescriptorSet::decode(FILE_DESCRIPTOR_SET).expect("the server's descriptors");
    let mut paths = Vec::new();
    for file in &set.file {
        for service in &file.service {
            for method in &service.method {
                let path = format!("/{}.{}/{}", file.package(), service.name(), method.name());
                paths.push((path, method.server_streaming()));
            }
        }
    }
    paths.sort();
    paths
}

async fn connect() -> Channel {
    let settings = Settings { memory_limit: 64 << 20, ..Settings::default() };
    let server = Server::new(&settings, Arc::new(SystemClock)).expect("the settings are good");
    let (near, far) = tokio::io::duplex(1 << 20);
    let incoming = stream::once(async { Ok(far) }).chain(stream::pending());
    tokio::spawn(server.serve_connections(incoming, std::future::pending()));
    let mut near = Some(near);
    let connector = service_fn(move |_| {
        let near = near.take().ok_or_else(|| std::io::Error::other("the connection has ended"));
        async move { near.map(TokioIo::new) }
    });
    let endpoint = Endpoint::from_static("http://utterd.test");
    endpoint.connect_with_connector(connector).await.expect("a pipe connects")
}
