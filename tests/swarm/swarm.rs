//! Random calls, one after another.

use std::{
    collections::{BTreeMap, BTreeSet},
    fmt::Write as _,
    sync::Arc,
    time::Duration,
};

use bytes::Bytes;
use prost_reflect::{DynamicMessage, MethodDescriptor, Value};
use tokio::time::Instant;
use tonic::{Code, Status, Streaming, transport::Channel};
use tonic_types::StatusExt;
use utterd::server::Server;

use crate::{
    call::{call, is_fault},
    maker::Maker,
    mend::mend,
    panics,
    support::{
        ManualClock, connect,
        wire::{is_endless, methods, open},
    },
};

/// How often a refused call is mended, and how many pages are read.
const ATTEMPTS: usize = 8;
/// Open watches; the oldest is closed for a new one.
const WATCHES: usize = 8;
/// The most faults of a run: it ends then.
const FAULTS: usize = 20;
/// An RPC has succeeded within this many times the calls, or never will.
const PATIENCE: u64 = 8;

/// The callers of a server, and what they saw.
pub struct Swarm {
    pub channel: Channel,
    pub maker: Maker,
    server: Server,
    clock: Arc<ManualClock>,
    methods: Vec<MethodDescriptor>,
    outcomes: BTreeMap<(String, String), u64>,
    succeeded: BTreeSet<String>,
    faults: BTreeSet<String>,
    slowest: (Duration, String),
    watches: Vec<(String, Streaming<Bytes>)>,
}

impl Swarm {
    pub async fn new(server: Server, clock: Arc<ManualClock>, seed: u64) -> Self {
        let methods = methods();
        assert!(methods.len() > 30, "{} RPCs were found", methods.len());
        Self {
            channel: connect(&server).await,
            maker: Maker::new(seed),
            server,
            clock,
            methods,
            outcomes: BTreeMap::new(),
            succeeded: BTreeSet::new(),
            faults: BTreeSet::new(),
            slowest: Default::default(),
            watches: Vec::new(),
        }
    }

    /// Makes `calls` calls, and more until each RPC has succeeded.
    pub async fn call_all(&mut self, calls: u64) {
        for made in 0..calls * PATIENCE {
            let missing: Vec<_> = self.methods.iter().filter(|method| self.awaits(method)).cloned().collect();
            if (made >= calls && missing.is_empty()) || self.faults.len() >= FAULTS {
                break;
            }
            let method = match made % 4 {
                // the missing ones need what the others make
                0 if made >= calls / 4 && !missing.is_empty() => self.maker.dice.pick(&missing).expect("one"),
                _ => self.any_method(),
            };
            // only the last compaction can be undone, until something is said
            if method.name() == "UndoCompaction" {
                let compact =
                    self.methods.iter().find(|method| method.name() == "CompactConversation").cloned();
                self.attempt(&compact.expect("it is served")).await;
            }
            self.attempt(&method).await;
            self.pass_time();
        }
        let missing: Vec<_> = self.methods.iter().filter(|method| self.awaits(method)).cloned().collect();
        for method in missing {
            self.faults.insert(format!("{} never succeeded\n{}", method.name(), self.told_of(method.name())));
        }
    }

    fn any_method(&mut self) -> MethodDescriptor {
        let weight = |method: &MethodDescriptor| match method.name() {
            "Memorize" | "Remember" | "BuildContext" | "PrepareHistory" => 60,
            name if name.starts_with("Delete") || name == "EndConversation" => 2,
            _ => 10,
        };
        let weights: Vec<_> = self.methods.iter().zip(0..).map(|(method, at)| (weight(method), at)).collect();
        self.methods[self.maker.dice.weighted::<usize>(&weights)].clone()
    }

    /// Whether it has not succeeded, and could: a store without files has no backup.
    fn awaits(&self, method: &MethodDescriptor) -> bool {
        let refused = ("Backup".to_owned(), format!("{:?}", Code::FailedPrecondition));
        let is_refused = method.name() == refused.0 && self.outcomes.contains_key(&refused);
        !self.succeeded.contains(method.name()) && !is_refused
    }

    fn pass_time(&mut self) {
        if self.maker.dice.percent(2) {
            let seconds = self.maker.dice.pick(&[1, 2_400, 90_000]).unwrap_or(1);
            self.clock.advance(Duration::from_secs(seconds));
        }
    }

    /// Makes a call, and again with what its refusal asks for, or for the next page.
    async fn attempt(&mut self, method: &MethodDescriptor) {
        let mut requests = self.maker.requests(method);
        for _ in 0..ATTEMPTS {
            let started = Instant::now();
            let answer = call(&self.channel, method, &requests).await;
            self.slowest = self.slowest.clone().max((started.elapsed(), brief(method, &requests)));
            let goes_on = match &answer {
                Ok(responses) => self.learn(method, responses, &mut requests).await,
                Err(refusal) => self.refused(method, refusal, &mut requests).await,
            };
            if !goes_on {
                break;
            }
        }
    }

    /// Returns whether there is a next page to ask for.
    async fn learn(
        &mut self,
        method: &MethodDescriptor,
        responses: &[DynamicMessage],
        requests: &mut [DynamicMessage],
    ) -> bool {
        self.count(method, Code::Ok);
        self.succeeded.insert(method.name().to_owned());
        for response in responses {
            self.maker.seen.learn(response);
            self.check_error_within(method, response, requests);
        }
        if is_endless(method) {
            self.watch(method, requests).await;
        }
        let token = responses.last().and_then(|last| last.get_field_by_name("next_page_token"));
        let Some(token) = token.map(|token| token.into_owned()).filter(|token| token.as_str() != Some(""))
        else {
            return false;
        };
        requests[0].try_set_field_by_name("page_token", token).is_ok() && self.maker.dice.percent(60)
    }

    /// A stream of calls tells the error of one in its response.
    fn check_error_within(
        &mut self,
        method: &MethodDescriptor,
        response: &DynamicMessage,
        requests: &[DynamicMessage],
    ) {
        let error = response.get_field_by_name("error");
        let error = error.as_deref().and_then(Value::as_message);
        let code = error.and_then(|error| error.get_field_by_name("code")?.as_i32());
        if let Some(code) = code.map(Code::from).filter(|code| is_fault(*code)) {
            self.faults.insert(format!("{}: {code:?} in {response:?}", brief(method, requests)));
        }
    }

    /// Returns whether the requests were mended.
    async fn refused(
        &mut self,
        method: &MethodDescriptor,
        refusal: &Status,
        requests: &mut [DynamicMessage],
    ) -> bool {
        self.count(method, refusal.code());
        if is_fault(refusal.code()) {
            let (code, message) = (refusal.code(), refusal.message());
            self.faults.insert(format!("{}: {code:?}: {message}", brief(method, requests)));
            // whatever happened to the connection, which ends with its channel
            self.watches.clear();
            self.channel = connect(&self.server).await;
            return false;
        }
        let bad = refusal.get_details_bad_request();
        let violation = bad.as_ref().and_then(|bad| bad.field_violations.first());
        violation.is_some_and(|violation| mend(requests, &violation.field, &mut self.maker))
    }

    /// Keeps watching, so that there is somebody to tell of what the others do.
    async fn watch(&mut self, method: &MethodDescriptor, requests: &[DynamicMessage]) {
        self.end_watches(WATCHES - 1).await;
        if let Ok(stream) = open(self.channel.clone(), None, method, requests).await {
            self.watches.push((brief(method, requests), stream));
        }
    }

    /// Reads what arrived on the oldest watches, and closes all but the newest `left`.
    async fn end_watches(&mut self, left: usize) {
        let ended = self.watches.len().saturating_sub(left);
        for (told, mut stream) in self.watches.drain(..ended) {
            let mut told_of = 0;
            // biased: what is there is read before it is left
            while let Some(next) = tokio::select! {
                biased;
                next = stream.message() => next.transpose(),
                () = tokio::task::yield_now() => None,
            } {
                told_of += 1;
                if let Err(status) = next {
                    if is_fault(status.code()) {
                        let (code, message) = (status.code(), status.message());
                        self.faults.insert(format!("{told}: {code:?} after {told_of}: {message}"));
                    }
                    break;
                }
            }
        }
    }

    fn count(&mut self, method: &MethodDescriptor, code: Code) {
        *self.outcomes.entry((method.name().to_owned(), format!("{code:?}"))).or_default() += 1;
    }

    /// Adds what an audit found.
    pub fn found(&mut self, fault: String) {
        self.faults.insert(fault);
    }

    /// Ends the watches and returns what went wrong.
    pub async fn faults(&mut self) -> String {
        self.end_watches(0).await;
        let panics = panics::all().into_iter().map(|panic| format!("a panic: {panic}"));
        Vec::from_iter(self.faults.iter().cloned().chain(panics)).join("\n")
    }

    /// The calls by outcome, and the slowest one.
    pub fn told(&self) -> String {
        let of_all = self.methods.iter().map(|method| self.told_of(method.name()));
        let (time, slowest) = &self.slowest;
        format!("{}\nslowest: {time:?} {slowest}", of_all.collect::<Vec<_>>().join("\n"))
    }

    fn told_of(&self, method: &str) -> String {
        let mut told = format!("{method:24}");
        for ((_, outcome), count) in self.outcomes.iter().filter(|((of, _), _)| of == method) {
            let _ = write!(told, " {outcome} {count}");
        }
        told
    }
}

/// A call as one line that is not too long.
fn brief(method: &MethodDescriptor, requests: &[DynamicMessage]) -> String {
    let told: Vec<String> =
        requests.iter().map(|request| serde_json::to_string(request).unwrap_or_default()).collect();
    let told = told.join(" ");
    format!("{} {}", method.name(), &told[..told.floor_char_boundary(1_500)])
}
