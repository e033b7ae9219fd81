//! Load that is offered regardless of what happens to it.

use std::{
    sync::{Arc, Mutex},
    thread,
    time::{Duration, Instant},
};

use bytes::Bytes;
use http::uri::PathAndQuery;
use tokio::{task::JoinSet, time};
use tonic::{Code, Request, Status, client::Grpc, transport::Channel};
use tonic_types::StatusExt;

use crate::load::{Call, Raw, connect, runtime};

/// Threads that offer load.
const THREADS: usize = 2;

/// A call that ended.
pub struct Ended {
    /// When it was due, since the load began.
    pub due: Duration,
    /// The time from then to its response.
    pub took: Duration,
    pub result: Result<(), Status>,
}

/// The result of a load.
#[derive(Default)]
pub struct Offered {
    pub ended: Vec<Ended>,
    /// How long calls were sent.
    pub time: Duration,
}

impl Offered {
    /// The times of calls answered and due in this part of the load, ascending.
    pub fn answered(&self, from: Duration, to: Duration) -> Vec<Duration> {
        self.times(from, to, |ended| ended.result.is_ok())
    }

    /// The same for refused calls.
    pub fn refused(&self, from: Duration, to: Duration) -> Vec<Duration> {
        self.times(from, to, is_refused)
    }

    /// The number of calls that ended neither way, and the status of one of them.
    pub fn failed(&self) -> (usize, Option<&Status>) {
        let failed = || {
            self.ended
                .iter()
                .filter(|ended| !is_refused(ended))
                .filter_map(|ended| ended.result.as_ref().err())
        };
        (failed().count(), failed().next())
    }

    fn times(&self, from: Duration, to: Duration, wanted: impl Fn(&Ended) -> bool) -> Vec<Duration> {
        let within = self.ended.iter().filter(|ended| ended.due >= from && ended.due < to);
        let mut times: Vec<_> = within.filter(|ended| wanted(ended)).map(|ended| ended.took).collect();
        times.sort_unstable();
        times
    }
}

fn is_refused(ended: &Ended) -> bool {
    ended.result.as_ref().is_err_and(|status| status.code() == Code::ResourceExhausted)
}

/// The time that this percentage does not exceed; zero if there are none.
pub fn percentile(times: &[Duration], percent: usize) -> Duration {
    times.get(times.len() * percent / 100).or(times.last()).copied().unwrap_or_default()
}

/// Sends this many calls per second for this long, each when it is due.
pub fn open_loop(address: &str, call: &Call, a_second: f64, time: Duration, connections: usize) -> Offered {
    on_threads(address, connections, |thread, channels, ended| {
        let call = call.clone();
        async move {
            let (started, interval) = (Instant::now(), Duration::from_secs_f64(THREADS as f64 / a_second));
            let (mut sent, mut calls) = (0_u32, JoinSet::new());
            while started.elapsed() < time {
                while interval * sent <= started.elapsed() {
                    let due = interval * sent;
                    let channel = channels[sent as usize % channels.len()].clone();
                    let request =
                        call.requests[(thread + THREADS * sent as usize) % call.requests.len()].clone();
                    let (path, ended) = (call.path, ended.clone());
                    calls.spawn(async move {
                        let result = send(channel, path, request).await;
                        let took = started.elapsed().saturating_sub(due);
                        ended.lock().expect("a lock").push(Ended { due, took, result });
                    });
                    sent += 1;
                }
                time::sleep(Duration::from_millis(1)).await;
            }
            while calls.join_next().await.is_some() {}
        }
    })
    .during(time)
}

/// What a refused caller does.
#[derive(Clone, Copy)]
pub enum Turned {
    /// It waits as long as it is told.
    Waits,
    /// It calls again immediately.
    Insists,
}

/// This many callers on this many connections, each calling again `pause` after it is answered.
pub fn callers(
    address: &str,
    call: &Call,
    (callers, connections): (usize, usize),
    (pause, turned): (Duration, Turned),
    time: Duration,
) -> Offered {
    on_threads(address, connections, |thread, channels, ended| {
        let call = call.clone();
        async move {
            let started = Instant::now();
            let mut running = JoinSet::new();
            for caller in (thread..callers).step_by(THREADS) {
                let channel = channels[caller / THREADS % channels.len()].clone();
                let (call, ended) = (call.clone(), ended.clone());
                running.spawn(async move {
                    for round in 0.. {
                        let due = started.elapsed();
                        if due >= time {
                            return;
                        }
                        let request = call.requests[(caller + round * callers) % call.requests.len()].clone();
                        let result = send(channel.clone(), call.path, request).await;
                        let told = result.as_ref().err().and_then(retry);
                        let took = started.elapsed().saturating_sub(due);
                        ended.lock().expect("a lock").push(Ended { due, took, result });
                        match (told, turned) {
                            (Some(told), Turned::Waits) => time::sleep(told).await,
                            _ if pause > Duration::ZERO => time::sleep(pause).await,
                            _ => {}
                        }
                    }
                });
            }
            while running.join_next().await.is_some() {}
        }
    })
    .during(time)
}

fn retry(status: &Status) -> Option<Duration> {
    status.get_details_retry_info()?.retry_delay
}

async fn send(channel: Channel, path: &'static str, request: Bytes) -> Result<(), Status> {
    let mut client = Grpc::new(channel);
    client.ready().await.map_err(|error| Status::unknown(error.to_string()))?;
    client.unary(Request::new(request), PathAndQuery::from_static(path), Raw).await.map(|_| ())
}

impl Offered {
    fn during(mut self, time: Duration) -> Self {
        self.time = time;
        self
    }
}

fn on_threads<F: Future<Output = ()>>(
    address: &str,
    connections: usize,
    work: impl Fn(usize, Vec<Channel>, Arc<Mutex<Vec<Ended>>>) -> F + Sync,
) -> Offered {
    let ended = Arc::new(Mutex::new(Vec::new()));
    thread::scope(|scope| {
        for thread in 0..THREADS {
            let (work, ended) = (&work, ended.clone());
            scope.spawn(move || {
                runtime().block_on(async {
                    let mut channels = Vec::new();
                    for _ in 0..connections.div_ceil(THREADS) {
                        channels.push(connect(address).await);
                    }
                    work(thread, channels, ended).await;
                });
            });
        }
    });
    let ended = std::mem::take(&mut *ended.lock().expect("a lock"));
    Offered { ended, ..Offered::default() }
}
