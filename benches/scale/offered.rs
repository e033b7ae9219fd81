//! Load on several servers. A call that is refused is sent again, as clients do.

use std::{
    collections::BTreeMap,
    sync::{
        Barrier,
        atomic::{AtomicU64, Ordering},
    },
    thread,
    time::{Duration, Instant},
};

use bytes::Bytes;
use http::uri::PathAndQuery;
use tonic::{Request, client::Grpc, transport::Channel};

use crate::{
    child::ServerProcess,
    load::{IN_FLIGHT, Raw, connect, runtime},
};

/// The connections to all servers, and the threads that share them.
const CONNECTIONS: usize = 8;
const THREADS: usize = 2;
/// How long to wait after a refusal.
const PAUSE: Duration = Duration::from_millis(2);

/// Where a call goes, and what it sends.
pub struct Target {
    /// The server's place.
    pub server: usize,
    pub request: Bytes,
}

/// Calls, in flight at the same time.
pub struct Load<'a> {
    servers: Vec<&'a ServerProcess>,
    path: &'static str,
    in_flight: usize,
    /// The call of a caller, and with this number among all; `None` is the end.
    next: Box<dyn Fn(usize, u64) -> Option<Target> + Sync + 'a>,
    number: AtomicU64,
}

/// The result of a load.
pub struct Answers {
    /// The time of each answer, by caller.
    pub times: Vec<Vec<Duration>>,
    /// How often calls were refused, by reason.
    pub refused: BTreeMap<String, u64>,
    elapsed: Duration,
}

impl Answers {
    /// How many there are.
    pub fn count(&self) -> usize {
        self.times.iter().map(Vec::len).sum()
    }

    /// Answers per second.
    pub fn a_second(&self) -> f64 {
        self.count() as f64 / self.elapsed.as_secs_f64()
    }
}

impl<'a> Load<'a> {
    /// Calls of `path` to `servers`, as many as is usual.
    pub fn new(
        servers: impl IntoIterator<Item = &'a ServerProcess>,
        path: &'static str,
        next: impl Fn(usize, u64) -> Option<Target> + Sync + 'a,
    ) -> Self {
        let (servers, next) = (servers.into_iter().collect(), Box::new(next));
        Self { servers, path, in_flight: IN_FLIGHT, next, number: AtomicU64::new(0) }
    }

    /// The same with so many callers.
    pub fn with_callers(self, in_flight: usize) -> Self {
        Self { in_flight, ..self }
    }

    /// Where the calls go.
    pub fn servers(&self) -> &[&'a ServerProcess] {
        &self.servers
    }

    /// Sends calls as fast as they are answered, for `time`; goes on where the last time ended.
    pub fn run(&self, time: Duration) -> Answers {
        let connected = Barrier::new(THREADS);
        thread::scope(|scope| {
            let start = |thread| {
                let connected = &connected;
                scope.spawn(move || runtime().block_on(self.on_thread(thread, connected, time)))
            };
            let running: Vec<_> = (0..THREADS).map(start).collect();
            let parts = running.into_iter().map(|thread| thread.join().expect("its end"));
            parts.reduce(joined).expect("a thread")
        })
    }

    async fn on_thread(&self, thread: usize, connected: &Barrier, time: Duration) -> Answers {
        let mut channels = Vec::new();
        for server in &self.servers {
            let mut to_server = Vec::new();
            for _ in 0..CONNECTIONS.div_ceil(THREADS * self.servers.len()) {
                to_server.push(connect(&server.address).await);
            }
            channels.push(to_server);
        }
        connected.wait();
        let started = Instant::now();
        let callers = (thread..self.in_flight)
            .step_by(THREADS)
            .map(|caller| self.caller(caller, caller / THREADS, &channels, started + time));
        let parts = futures::future::join_all(callers).await;
        let (times, refused): (_, Vec<_>) = parts.into_iter().unzip();
        Answers {
            times,
            refused: refused.into_iter().fold(BTreeMap::new(), added),
            elapsed: started.elapsed(),
        }
    }

    async fn caller(
        &self,
        caller: usize,
        place: usize,
        channels: &[Vec<Channel>],
        end: Instant,
    ) -> (Vec<Duration>, BTreeMap<String, u64>) {
        let of_server = |channels: &Vec<Channel>| Grpc::new(channels[place % channels.len()].clone());
        let mut clients: Vec<_> = channels.iter().map(of_server).collect();
        let (mut times, mut refused) = (Vec::new(), BTreeMap::new());
        loop {
            let started = Instant::now();
            if started >= end {
                return (times, refused);
            }
            let Some(target) = (self.next)(caller, self.number.fetch_add(1, Ordering::Relaxed)) else {
                return (times, refused);
            };
            let client = &mut clients[target.server];
            loop {
                client.ready().await.expect("a connection");
                let (request, path) =
                    (Request::new(target.request.clone()), PathAndQuery::from_static(self.path));
                let Err(status) = client.unary(request, path, Raw).await else { break };
                *refused.entry(format!("{:?}: {}", status.code(), status.message())).or_default() += 1;
                tokio::time::sleep(PAUSE).await;
            }
            times.push(started.elapsed());
        }
    }
}

fn joined(one: Answers, other: Answers) -> Answers {
    Answers {
        times: one.times.into_iter().chain(other.times).collect(),
        refused: added(one.refused, other.refused),
        elapsed: one.elapsed.max(other.elapsed),
    }
}

fn added(mut one: BTreeMap<String, u64>, other: BTreeMap<String, u64>) -> BTreeMap<String, u64> {
    other.into_iter().for_each(|(reason, times)| *one.entry(reason).or_default() += times);
    one
}
