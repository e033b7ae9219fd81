//! Admission: a call is admitted when its turn comes, once its request is there and before anything is done for it,
//! or it is turned away at once.
//!
//! Two things are bounded. [`RunQueue`] holds how long calls wait for their worker's thread while more come than it
//! can serve; calls that change something are turned away too while the store is behind. [`InFlight`] holds how many calls and streams are open, of all callers and of each. Beside them a
//! caller may make so many calls a second. What is turned
//! away is told RESOURCE_EXHAUSTED, and when to call again.

mod caller;
mod in_flight;
mod kind;
mod layer;
mod refusals;
mod run_queue;
mod turn;

use std::{num::NonZeroU32, sync::Arc};

use http::{Request, Response};
use parking_lot::Mutex;
use tokio::time::Instant;
use tonic::body::Body;

use crate::{
    config::Settings,
    domain::limits::STREAMS_SHARE,
    rpc::{Pace, turned_away},
    server::{guard::Principal, rates::Rates},
};
use caller::caller;
use refusals::Refusals;
use turn::{Turn, TurnBody};

pub use in_flight::{Held, InFlight};
pub use kind::Kind;
pub use layer::AdmissionLayer;
pub use run_queue::{RunQueue, Ticket};

/// What the workers of a server share.
pub struct Admission {
    /// Tells whether more waits to be written than the store can keep up with.
    is_store_behind: Box<dyn Fn() -> bool + Send + Sync>,
    calls: Arc<InFlight>,
    streams: Arc<InFlight>,
    rates: Rates,
    /// Calls a second of a caller whose credential says nothing of it.
    calls_per_second: Option<NonZeroU32>,
    overloaded: Refusals,
    too_many_calls: Refusals,
    too_many_streams: Refusals,
}

/// The admission of one worker.
pub struct Gate {
    admission: Arc<Admission>,
    queue: Mutex<RunQueue>,
}

impl Admission {
    /// With the limits of `settings`, before a store that says whether it is behind.
    pub fn new(settings: &Settings, is_store_behind: impl Fn() -> bool + Send + Sync + 'static) -> Arc<Self> {
        let (calls, streams) = (settings.max_calls_in_flight, settings.max_streams);
        let limited = |what: &str, setting: &str, most: usize| {
            format!(
                "as many {what} are open as may be: {setting} is {most}, of which each caller has a share"
            )
        };
        let too_many = |reason: &str, message: String, setting: &str| {
            Refusals::new(reason, &message, Some((setting, &message)))
        };
        let more = "more calls come than can be served: call again after the time that is told";
        Arc::new(Self {
            is_store_behind: Box::new(is_store_behind),
            calls: InFlight::new(calls, calls),
            streams: InFlight::new(streams, (streams / STREAMS_SHARE).max(1)),
            rates: Rates::default(),
            calls_per_second: NonZeroU32::new(settings.calls_per_second),
            overloaded: Refusals::new("OVERLOADED", more, None),
            too_many_calls: too_many(
                "TOO_MANY_CALLS",
                limited("calls", "max_calls_in_flight", calls),
                "max_calls_in_flight",
            ),
            too_many_streams: too_many(
                "TOO_MANY_STREAMS",
                limited("streams", "max_streams", streams),
                "max_streams",
            ),
        })
    }
}

impl Gate {
    /// For a worker that starts.
    pub fn new(admission: Arc<Admission>) -> Arc<Self> {
        Arc::new(Self { admission, queue: Mutex::new(RunQueue::new(Instant::now())) })
    }

    /// A call has come.
    fn arrive(&self, now: Instant) -> Ticket {
        self.queue.lock().arrive(now)
    }

    /// A call is begun. What is held counts until it is dropped. The turn of one that is no stream comes at the end
    /// of its request, which may be turned away then.
    fn admit(
        self: &Arc<Self>,
        request: &mut Request<Body>,
        ticket: Ticket,
    ) -> Result<Option<Held>, Box<Response<Body>>> {
        let (now, admission) = (Instant::now(), &self.admission);
        let (kind, caller) = (Kind::of(request.uri().path()), caller(request.extensions()));
        let is_turned_away = match kind {
            Kind::Exempt => !self.queue.lock().turn(now, ticket, None, false),
            Kind::Stream => !self.queue.lock().turn(now, ticket, Some(caller), false),
            Kind::Unary => self.queue.lock().turns_away(now, ticket, caller),
        };
        if is_turned_away {
            return Err(Box::new(admission.overloaded.next()));
        }
        let (open, too_many) = match kind {
            Kind::Exempt => return Ok(None),
            Kind::Unary => (&admission.calls, &admission.too_many_calls),
            Kind::Stream => (&admission.streams, &admission.too_many_streams),
        };
        // dropped, it leaves the queue
        let turn = (kind == Kind::Unary).then(|| Turn::new(self.clone(), request, ticket, caller));
        admission.pace(request, kind, caller, now)?;
        let held = open.hold(caller).map_err(|limit| {
            tracing::debug!(?limit, ?kind, "turned a call away");
            Box::new(too_many.next())
        })?;
        if let Some(turn) = turn {
            let body = std::mem::take(request.body_mut());
            *request.body_mut() = Body::new(TurnBody::new(body, turn));
        }
        Ok(Some(held))
    }
}

impl Admission {
    /// Counts the call among its caller's of this second; the messages of a stream are counted as they come.
    fn pace(
        self: &Arc<Self>,
        request: &mut Request<Body>,
        kind: Kind,
        caller: u64,
        now: Instant,
    ) -> Result<(), Box<Response<Body>>> {
        let principal = request.extensions().get::<Principal>();
        let own = principal.and_then(|principal| principal.calls_per_second);
        let Some(most) = own.or(self.calls_per_second) else { return Ok(()) };
        self.rates.take(caller, most, now).map_err(|wait| {
            let name = principal.map_or("the connection", |principal| &principal.name);
            let text =
                format!("{name} may make {most} calls a second: call again after the time that is told");
            Box::new(turned_away("TOO_MANY_CALLS_A_SECOND", &text, wait, Some((name, &text))).into_http())
        })?;
        if kind == Kind::Stream {
            let admission = self.clone();
            let pace = Pace::new(move || admission.rates.take(caller, most, Instant::now()));
            request.extensions_mut().insert(pace);
        }
        Ok(())
    }
}
