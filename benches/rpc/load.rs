//! Load from this process: calls in flight on several connections, from threads with their own runtimes.
//! Messages are passed as bytes, so the client's work does not depend on the call.

use std::{
    sync::Arc,
    thread,
    time::{Duration, Instant},
};

use bytes::{Buf, BufMut, Bytes};
use futures::{StreamExt, stream};
use http::uri::PathAndQuery;
use prost::Message as _;
use tonic::{
    Request, Status,
    client::Grpc,
    codec::{Codec, DecodeBuf, Decoder, EncodeBuf, Encoder},
    transport::{Channel, Endpoint},
};

/// A call: its path, and the requests that it sends in turn.
#[derive(Clone)]
pub struct Call {
    pub path: &'static str,
    pub requests: Arc<Vec<Bytes>>,
}

/// The usual number of calls in flight.
pub const IN_FLIGHT: usize = 64;
/// The maximum number of connections, and of threads that share them.
const CONNECTIONS: usize = 8;
const THREADS: usize = 2;

/// The result of a load.
pub struct Answers {
    /// The time of each response.
    pub times: Vec<Duration>,
    elapsed: Duration,
}

impl Answers {
    /// Responses per second.
    pub fn a_second(&self) -> f64 {
        self.times.len() as f64 / self.elapsed.as_secs_f64()
    }
}

/// Sends `call` as fast as it is answered, `in_flight` at a time, for `time`.
pub fn unary(address: &str, call: &Call, in_flight: usize, time: Duration) -> Answers {
    let started = Instant::now();
    let times = on_threads(address, in_flight.min(CONNECTIONS), |thread, threads, channels| {
        let call = call.clone();
        async move {
            let callers = (0..in_flight / threads).map(|index| {
                let channel = channels[index % channels.len()].clone();
                caller(channel, call.clone(), thread * 1_000 + index, in_flight + 1, started + time)
            });
            futures::future::join_all(callers).await.concat()
        }
    });
    Answers { times: times.concat(), elapsed: started.elapsed() }
}

async fn caller(channel: Channel, call: Call, first: usize, stride: usize, end: Instant) -> Vec<Duration> {
    let mut client = Grpc::new(channel);
    let mut times = Vec::new();
    let mut next = first;
    loop {
        let started = Instant::now();
        if started >= end {
            return times;
        }
        let request = call.requests[next % call.requests.len()].clone();
        next += stride;
        send(&mut client, call.path, request).await;
        times.push(started.elapsed());
    }
}

/// Sends a request, and waits for its answer.
pub async fn send(client: &mut Grpc<Channel>, path: &'static str, request: Bytes) {
    client.ready().await.expect("a connection");
    let path = PathAndQuery::from_static(path);
    client.unary(Request::new(request), path, Raw).await.expect("an answer");
}

/// Sends every request once, `in_flight` at a time, on one connection.
pub fn all(address: &str, path: &'static str, requests: impl IntoIterator<Item = Bytes>, in_flight: usize) {
    on_one(address, |channel| async move {
        let send = |request| {
            let mut client = Grpc::new(channel.clone());
            async move { send(&mut client, path, request).await }
        };
        stream::iter(requests)
            .map(send)
            .buffer_unordered(in_flight)
            .for_each(|_| std::future::ready(()))
            .await;
    });
}

/// Sends the calls in turn, one at a time, and returns the median time of each.
pub fn one_by_one(address: &str, calls: &[Call], rounds: usize) -> Vec<Duration> {
    on_one(address, |channel| async move {
        let mut client = Grpc::new(channel);
        let mut times = vec![Vec::with_capacity(rounds); calls.len()];
        for round in 0..rounds {
            for (call, times) in calls.iter().zip(&mut times) {
                let request = call.requests[round % call.requests.len()].clone();
                let started = Instant::now();
                send(&mut client, call.path, request).await;
                times.push(started.elapsed());
            }
        }
        times
            .into_iter()
            .map(|mut times| {
                times.sort_unstable();
                times[times.len() / 2]
            })
            .collect()
    })
}

/// Streams messages on as many streams as there are lists, for `time`; returns how many were answered per
/// second.
pub fn streams(address: &str, path: &'static str, messages: &[Arc<Vec<Bytes>>], time: Duration) -> f64 {
    let started = Instant::now();
    let end = started + time;
    let answered = on_threads(address, messages.len(), |thread, _, channels| {
        let lists: Vec<_> =
            messages.iter().skip(thread * channels.len()).take(channels.len()).cloned().collect();
        async move {
            let streams =
                channels.into_iter().zip(lists).map(|(channel, list)| one_stream(channel, path, list, end));
            futures::future::join_all(streams).await.into_iter().sum::<u64>()
        }
    });
    answered.into_iter().sum::<u64>() as f64 / started.elapsed().as_secs_f64()
}

async fn one_stream(channel: Channel, path: &'static str, list: Arc<Vec<Bytes>>, end: Instant) -> u64 {
    let mut client = Grpc::new(channel);
    client.ready().await.expect("a connection");
    let messages = (0..).map(move |index: usize| list[index % list.len()].clone());
    let messages = stream::iter(messages).take_while(move |_| std::future::ready(Instant::now() < end));
    let path = PathAndQuery::from_static(path);
    let response = client.streaming(Request::new(messages), path, Raw).await.expect("a stream");
    let mut responses = response.into_inner();
    let mut answered = 0;
    while let Some(response) = responses.next().await {
        let response = Streamed::decode(response.expect("an answer")).expect("a response");
        answered += response.answered_count as u64;
    }
    answered
}

/// How many messages of a stream a response answers.
#[derive(prost::Message)]
struct Streamed {
    #[prost(int32, tag = "3")]
    answered_count: i32,
}

/// Runs `work` on each thread, with its number, the number of threads, and its share of the connections.
fn on_threads<T, F, W>(address: &str, connections: usize, work: W) -> Vec<T>
where
    T: Send,
    F: Future<Output = T>,
    W: Fn(usize, usize, Vec<Channel>) -> F + Sync,
{
    let threads = connections.min(THREADS);
    thread::scope(|scope| {
        let on_thread = |thread| {
            let work = &work;
            scope.spawn(move || {
                runtime().block_on(async {
                    let mut channels = Vec::new();
                    for _ in 0..connections / threads {
                        channels.push(connect(address).await);
                    }
                    work(thread, threads, channels).await
                })
            })
        };
        let running: Vec<_> = (0..threads).map(on_thread).collect();
        running.into_iter().map(|thread| thread.join().expect("its end")).collect()
    })
}

fn on_one<T, F: Future<Output = T>>(address: &str, work: impl FnOnce(Channel) -> F) -> T {
    runtime().block_on(async { work(connect(address).await).await })
}

/// A runtime on the current thread.
pub fn runtime() -> tokio::runtime::Runtime {
    tokio::runtime::Builder::new_current_thread().enable_all().build().expect("a runtime")
}

/// A connection of its own.
pub async fn connect(address: &str) -> Channel {
    let endpoint = Endpoint::from_shared(address.to_owned()).expect("an address");
    endpoint.tcp_nodelay(true).connect().await.expect("the server answers")
}

/// Passes messages through unchanged.
#[derive(Clone, Copy)]
pub struct Raw;

impl Codec for Raw {
    type Encode = Bytes;
    type Decode = Bytes;
    type Encoder = Self;
    type Decoder = Self;

    fn encoder(&mut self) -> Self {
        Self
    }

    fn decoder(&mut self) -> Self {
        Self
    }
}

impl Encoder for Raw {
    type Item = Bytes;
    type Error = Status;

    fn encode(&mut self, item: Bytes, buffer: &mut EncodeBuf<'_>) -> Result<(), Status> {
        buffer.put(item);
        Ok(())
    }
}

impl Decoder for Raw {
    type Item = Bytes;
    type Error = Status;

    fn decode(&mut self, buffer: &mut DecodeBuf<'_>) -> Result<Option<Bytes>, Status> {
        Ok(Some(buffer.copy_to_bytes(buffer.remaining())))
    }
}
