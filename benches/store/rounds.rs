//! Calls to all stores in turn; each reply follows its flush.

use std::{sync::Arc, time::Duration};

use bytes::Bytes;
use tempfile::TempDir;
use utterd::{proto::PolicyPreset, store::durable::EngineKind};

use crate::{
    Plan,
    child::ServerProcess,
    load::{self, Call, IN_FLIGHT},
    measured::{Measured, measure, median},
    raw::{Raw, Written},
    requests,
};

/// Conversations that calls are spread over.
const CONVERSATIONS: usize = 256;
/// Streams of MemorizeStream.
const STREAMS: usize = 8;

/// A store under load.
pub struct Loaded {
    /// `None` is the memory store.
    pub engine: Option<EngineKind>,
    pub calls: Calls,
    server: ServerProcess,
    _directory: TempDir, // dropped after the server
}

/// The results of its calls.
#[derive(Default)]
pub struct Calls {
    /// Memorize with SESSION, [`IN_FLIGHT`] at a time.
    pub session: Timed,
    /// The same with ROLLING and full windows.
    pub rolling: Timed,
    /// MemorizeStream with SESSION, on [`STREAMS`] streams.
    pub streamed: Measured,
    /// Memorize with SESSION, one at a time.
    pub alone: Timed,
}

/// The bare disk for comparison, round by round.
#[derive(Default)]
pub struct Bare {
    /// [`IN_FLIGHT`] records per write.
    pub crowded: Vec<Written>,
    /// One record per write.
    pub alone: Vec<Written>,
}

/// A call's rates and the times of its replies, round by round.
#[derive(Default)]
pub struct Timed {
    pub rates: Measured,
    medians: Vec<f64>,
    tails: Vec<f64>,
    worst: Duration,
}

impl Timed {
    /// The time within which half of the replies arrive, in the median round.
    pub fn half(&self) -> Duration {
        Duration::from_secs_f64(median(self.medians.clone()))
    }

    /// The same, round by round.
    pub fn halves(&self) -> &[f64] {
        &self.medians
    }

    /// The time within which 99 of 100 replies arrive, in the median round.
    pub fn most(&self) -> Duration {
        Duration::from_secs_f64(median(self.tails.clone()))
    }

    /// The longest time of a reply in any round.
    pub fn worst(&self) -> Duration {
        self.worst
    }

    fn add(&mut self, mut times: Vec<Duration>) {
        times.sort_unstable();
        self.medians.push(times[times.len() / 2].as_secs_f64());
        self.tails.push(times[times.len() * 99 / 100].as_secs_f64());
        self.worst = self.worst.max(times[times.len() - 1]);
    }
}

/// Loads every store of the plan, the memory store first, and the bare disk.
pub fn run(plan: &Plan) -> (Vec<Loaded>, Bare) {
    let sent = Sent::new();
    let engines = std::iter::once(None).chain(plan.engines.iter().copied().map(Some));
    let mut stores: Vec<_> = engines.map(|engine| Loaded::start(engine, &sent)).collect();
    let directory = crate::directory();
    let mut raw = Raw::create(directory.path());
    let mut bare = Bare::default();
    for round in 0..=plan.rounds {
        crowded(&mut stores, &mut raw, &mut bare, &sent, plan.round, round > 0);
    }
    for round in 0..=plan.rounds {
        alone(&mut stores, &mut raw, &mut bare, &sent, plan.round / 2, round > 0);
    }
    (stores, bare)
}

/// A round with many calls at a time; it counts if it is a warm one.
fn crowded(stores: &mut [Loaded], raw: &mut Raw, bare: &mut Bare, sent: &Sent, time: Duration, warm: bool) {
    for store in &mut *stores {
        store.unary(warm.then_some(|calls| &mut calls.session), &sent.session, IN_FLIGHT, time);
        if store.engine.is_none() {
            let written = raw.write(IN_FLIGHT, time);
            bare.crowded.extend(warm.then_some(written));
        }
    }
    for store in &mut *stores {
        store.stream(warm, &sent.messages, time);
    }
    for store in stores {
        store.unary(warm.then_some(|calls| &mut calls.rolling), &sent.rolling, IN_FLIGHT, time);
    }
}

/// A round with one call at a time.
fn alone(stores: &mut [Loaded], raw: &mut Raw, bare: &mut Bare, sent: &Sent, time: Duration, warm: bool) {
    for store in stores {
        store.unary(warm.then_some(|calls| &mut calls.alone), &sent.session, 1, time);
        if store.engine.is_none() {
            let written = raw.write(1, time);
            bare.alone.extend(warm.then_some(written));
        }
    }
}

impl Loaded {
    fn start(engine: Option<EngineKind>, sent: &Sent) -> Self {
        let directory = crate::directory();
        let mut settings = crate::settings(engine, &directory, "each");
        // its conversations grow to thousands of times the real sizes
        settings.push("cache_limit=16GiB".to_owned());
        let server = ServerProcess::start(&settings);
        load::all(&server.address, requests::CREATE, sent.create.iter().cloned(), IN_FLIGHT);
        load::all(&server.address, requests::MEMORIZE, sent.full.iter().cloned(), IN_FLIGHT);
        Self { engine, calls: Calls::default(), server, _directory: directory }
    }

    /// A round of `call`; it counts if there is something to add it to.
    fn unary(
        &mut self,
        timed: Option<fn(&mut Calls) -> &mut Timed>,
        call: &Call,
        in_flight: usize,
        time: Duration,
    ) {
        let mut times = Vec::new();
        let mut timed = timed.map(|timed| timed(&mut self.calls));
        measure(&self.server, timed.as_mut().map(|timed| &mut timed.rates), || {
            let answers = load::unary(&self.server.address, call, in_flight, time);
            let rate = answers.a_second();
            times = answers.times;
            rate
        });
        if let Some(timed) = timed {
            timed.add(times);
        }
    }

    fn stream(&mut self, warm: bool, messages: &[Arc<Vec<Bytes>>], time: Duration) {
        measure(&self.server, warm.then_some(&mut self.calls.streamed), || {
            load::streams(&self.server.address, requests::MEMORIZE_STREAM, messages, time)
        });
    }
}

/// The requests, encoded once.
struct Sent {
    create: Vec<Bytes>,
    /// Fills the windows of ROLLING.
    full: Vec<Bytes>,
    session: Call,
    rolling: Call,
    messages: Vec<Arc<Vec<Bytes>>>,
}

impl Sent {
    fn new() -> Self {
        let names = |kind: &str| (0..CONVERSATIONS).map(|at| format!("{kind}-{at}")).collect::<Vec<_>>();
        let (session, rolling) = (names("session"), names("rolling"));
        let create = |names: &[String], preset| -> Vec<_> {
            names.iter().map(|name| requests::create(name, preset)).collect()
        };
        let memorize = |names: &[String]| {
            let sayings =
                (0..5).flat_map(|first| names.iter().map(move |name| requests::memorize(name, first, 1)));
            Call { path: requests::MEMORIZE, requests: Arc::new(sayings.collect()) }
        };
        let messages = session.iter().take(STREAMS).map(|name| {
            Arc::new((0..5).map(|first| requests::memorize_message(name, first, false)).collect())
        });
        Self {
            create: [create(&session, PolicyPreset::Session), create(&rolling, PolicyPreset::Rolling)]
                .concat(),
            full: rolling.iter().map(|name| requests::memorize(name, 0, 40)).collect(),
            session: memorize(&session),
            rolling: memorize(&rolling),
            messages: messages.collect(),
        }
    }
}
