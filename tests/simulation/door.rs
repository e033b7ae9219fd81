//! The way into an engine: the server's layers that enforce deadlines and admit or refuse calls, and the
//! thread that serves one call after another.

use std::{
    convert::Infallible,
    future::{Future, poll_fn},
    pin::Pin,
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
    time::Duration,
};

use futures::future::BoxFuture;
use http::{Request, Response};
use http_body_util::{BodyExt, Empty};
use parking_lot::Mutex;
use tokio::{
    sync::{OwnedSemaphorePermit, Semaphore},
    time::sleep,
};
use tonic::{Code, Status, body::Body};
use tonic_types::StatusExt;
use utterd::{
    config::Settings,
    domain::limits::STREAMS_SHARE,
    server::{
        Peer, TransportErrors,
        admission::{Admission, Admitting},
    },
};

use crate::{
    checks::Wrong,
    house::House,
    shares::{Kind, Place, Shares, Unfair},
};

/// The door of one engine.
pub struct Door {
    /// Called when a call arrives, as hyper does.
    layers: Box<dyn Fn(Request<Body>) -> Answer + Send + Sync>,
    /// Who has the thread; the others follow in order of arrival.
    thread: Arc<Semaphore>,
    house: House,
    shares: Arc<Mutex<Shares>>,
}

/// Who calls, what, and for how long they wait.
#[derive(Clone, Copy, Debug)]
pub struct Head {
    pub caller: u64,
    pub kind: Kind,
    pub deadline: Option<Duration>,
}

type Answer = BoxFuture<'static, Result<Response<Body>, Infallible>>;

/// Whether a call has reached the engine.
pub type Begun = Arc<AtomicBool>;

/// The result of a call at the door.
pub enum Came<T> {
    /// With the place that it keeps until its answer is read.
    Answered(T, Response<Body>),
    TurnedAway(TurnedAway),
    /// Its deadline, or the maximum duration of a call, had passed.
    TooLate,
}

#[derive(Clone, Debug)]
pub struct TurnedAway {
    pub reason: String,
    /// When to retry.
    pub delay: Duration,
}

/// The work of a call behind the door.
#[derive(Clone)]
struct Errand {
    begun: Begun,
    head: Head,
    work: Arc<Mutex<Option<BoxFuture<'static, ()>>>>,
}

impl Door {
    pub fn new(house: &House) -> Arc<Self> {
        let settings = Settings {
            max_calls_in_flight: house.calls,
            max_streams: house.streams,
            calls_per_second: house.calls_per_second,
            max_call_duration: house.max_call_duration,
            ..Settings::default()
        };
        let shares = Arc::new(Mutex::new(Shares::new(house)));
        let counted = shares.clone();
        let errors =
            TransportErrors { max_call_duration: house.max_call_duration, max_message_bytes: 1 << 20 };
        let admitting = Admitting::new(Admission::new(&settings, || false));
        let layers = move |request| {
            let engine = |request| -> Answer { Box::pin(begin(&counted, request)) };
            errors.report(request, |request| admitting.admit(request, engine))
        };
        Arc::new(Self {
            layers: Box::new(layers),
            thread: Arc::new(Semaphore::new(1)),
            house: house.clone(),
            shares,
        })
    }

    /// Makes a call: `work` runs if it is admitted.
    pub async fn call<T: Send + 'static>(
        &self,
        head: Head,
        begun: &Begun,
        work: impl Future<Output = T> + Send + 'static,
    ) -> Came<T> {
        let (errand, done) = Errand::of(head, begun, work);
        let unfair = self.shares.lock().unfair_to(head);
        let mut answering = (self.layers)(errand.request());
        let mut turn = self.thread.clone().acquire_owned().await.ok();
        // the thread is free again while the call waits for something
        let response = poll_fn(|context| {
            let polled = Pin::new(&mut answering).poll(context);
            turn.take().into_iter().for_each(|turn| self.let_go(turn, begun));
            polled
        });
        let Ok(response) = response.await;
        let answer = done.lock().take();
        match (Status::from_header_map(response.headers()), answer) {
            (None, Some(answer)) => Came::Answered(answer, response),
            (None, None) => unreachable!("an answer is given once there is one"),
            (Some(status), _) => self.refused(head, &status, &unfair),
        }
    }

    /// How many of each kind can be open at a time, for all callers.
    pub fn most(&self) -> [(Kind, u64); 2] {
        // nobody opens more streams than that
        [(Kind::Unary, self.house.calls as u64), (Kind::Stream, self.house.streams.min(12) as u64)]
    }

    /// The same for a single caller, within its rate limit.
    pub fn most_each(&self) -> [(Kind, usize); 2] {
        let a_second = match self.house.calls_per_second {
            0 => usize::MAX,
            some => some as usize / 2,
        };
        let (calls, streams) =
            ((self.house.calls / 4 * 3).max(1), (self.house.streams.min(12) / STREAMS_SHARE).max(1));
        [(Kind::Unary, calls.min(a_second)), (Kind::Stream, streams.min(a_second))]
    }

    /// The violations seen at this door.
    pub fn wrongs(&self) -> Vec<Wrong> {
        self.shares.lock().wrongs.clone()
    }

    fn let_go(&self, turn: OwnedSemaphorePermit, begun: &Begun) {
        let took = self.house.turn;
        if took > Duration::ZERO && begun.load(Ordering::Relaxed) {
            tokio::spawn(async move {
                sleep(took).await;
                drop(turn);
            });
        }
    }

    fn refused<T>(&self, head: Head, status: &Status, unfair: &Unfair) -> Came<T> {
        let details = status.get_error_details();
        let reason = details.error_info().map(|info| info.reason.clone()).unwrap_or_default();
        match status.code() {
            Code::DeadlineExceeded => Came::TooLate,
            Code::ResourceExhausted => {
                let delay = details.retry_info().and_then(|retry| retry.retry_delay);
                self.shares.lock().turned_away(head, &reason, unfair);
                Came::TurnedAway(TurnedAway { reason, delay: delay.expect("a RetryInfo") })
            }
            code => unreachable!("{code:?} is no answer of these layers"),
        }
    }
}

impl Errand {
    /// The work, and where to leave its result.
    fn of<T: Send + 'static>(
        head: Head,
        begun: &Begun,
        work: impl Future<Output = T> + Send + 'static,
    ) -> (Self, Arc<Mutex<Option<T>>>) {
        let done = Arc::new(Mutex::new(None));
        let result = done.clone();
        let work: BoxFuture<'static, ()> = Box::pin(async move {
            let answer = work.await;
            *result.lock() = Some(answer);
        });
        (Self { begun: begun.clone(), head, work: Arc::new(Mutex::new(Some(work))) }, done)
    }

    fn request(self) -> Request<Body> {
        let path = match self.head.kind {
            Kind::Unary => "/utterd.v1.MemoryService/Memorize",
            Kind::Stream => "/utterd.v1.MemoryService/MemorizeStream",
        };
        let mut request = Request::builder().uri(path);
        if let Some(deadline) = self.head.deadline {
            request = request.header("grpc-timeout", format!("{}m", deadline.as_millis()));
        }
        let peer = Peer::new(self.head.caller, None);
        request.extension(peer).extension(self).body(Body::empty()).expect("a request")
    }
}

/// The service behind the layers.
fn begin(
    shares: &Arc<Mutex<Shares>>,
    request: Request<Body>,
) -> impl Future<Output = Result<Response<Body>, Infallible>> + Send + use<> {
    let errand = request.extensions().get::<Errand>().cloned().expect("the errand of each call");
    let place = Place::taken(shares, errand.head);
    async move {
        if let Err(status) = request.into_body().collect().await {
            return Ok(status.into_http());
        }
        errand.begun.store(true, Ordering::Relaxed);
        let work = errand.work.lock().take();
        if let Some(work) = work {
            work.await;
        }
        Ok(Response::new(until_read(place)))
    }
}

/// A response that keeps its place as long as it exists.
fn until_read(place: Place) -> Body {
    Body::new(Empty::new().map_frame(move |frame: http_body::Frame<bytes::Bytes>| {
        let _until_the_end = &place;
        frame
    }))
}
