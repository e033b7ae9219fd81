//! The answer to a call: while it is not read, it counts towards its caller's room.

use std::{
    pin::Pin,
    sync::Arc,
    task::{Context, Poll, ready},
};

use bytes::Bytes;
use futures::FutureExt as _;
use http::{Request, Response};
use http_body::{Body as _, Frame};
use http_body_util::BodyExt as _;
use tonic::{Status, body::Body};

use super::{in_flight, offloaded::Offloaded, request::Message};
use crate::{
    guard::methods::{Method, Origin},
    transport::activity::{self, Activity},
};
use utterd_domain::limits::SMALL_ANSWER_BYTES;
use utterd_rpc::{Held, Room, unread};

/// The answer to a call, before it is made.
pub struct Answer {
    pub method: &'static Method,
    room: Room,
    activity: Option<Arc<Activity>>,
    message: Arc<Message>,
    kept: Kept,
}

/// What a call holds until its answer is sent.
#[derive(Default)]
pub struct Kept {
    pub in_flight: Option<in_flight::Held>,
    pub connection: Option<activity::Call>,
    pub window: Option<Held>,
}

impl Answer {
    /// The answer to `request`, a call of `method` that keeps `kept`.
    pub fn new<B>(request: &Request<B>, method: &'static Method, room: Room, kept: Kept) -> Self {
        let activity = request.extensions().get().cloned();
        Self { method, room, activity, message: Arc::default(), kept }
    }

    /// Returns the message that the call receives.
    pub fn message(&self) -> Arc<Message> {
        self.message.clone()
    }

    /// Whether the caller has no other call in flight.
    pub fn is_alone(&self) -> bool {
        self.kept.in_flight.as_ref().is_none_or(in_flight::Held::is_alone)
    }

    /// Sends `response`, unless the caller leaves too much unread. The answer of a call that can change something is
    /// always sent, and so is a small one.
    pub fn send(self, response: Response<Body>) -> Response<Body> {
        let Self { method, room, activity, message, kept } = self;
        let answers_once = method.origin != Origin::Unknown && !method.answers_many;
        if !method.takes_many || answers_once {
            *message.room.lock() = None;
        }
        let (parts, mut inner) = response.into_parts();
        // encoded immediately: until then the answer is a tree of messages, several times as large
        let first = if answers_once { first(&mut inner) } else { None };
        let first = match first.map(Frame::into_data) {
            Some(Ok(bytes)) if bytes.len() > SMALL_ANSWER_BYTES => {
                let held = room.try_take(bytes.len());
                if held.is_none() && !method.changes() {
                    return unread().into_http();
                }
                Some(Frame::data(until_read(bytes, held, activity.as_ref())))
            }
            frame => frame.map(|frame| frame.map_or_else(|other| other, Frame::data)),
        };
        let inner = Offloaded::new(inner, |body, context| Pin::new(body).poll_frame(context), message);
        let body = AnswerBody { inner, first, activity: activity.filter(|_| !answers_once), _kept: kept };
        Response::from_parts(parts, Body::new(body))
    }
}

/// Returns the frame that a body has ready, if any.
fn first(body: &mut Body) -> Option<Frame<Bytes>> {
    if body.is_end_stream() { None } else { body.frame().now_or_never()??.ok() }
}

/// Returns `bytes`, which count as unread until they are dropped.
fn until_read(bytes: Bytes, held: Option<Held>, activity: Option<&Arc<Activity>>) -> Bytes {
    let unread = activity.map(|activity| activity.unread(bytes.len()));
    Bytes::from_owner(Unread { bytes, _held: held, _unread: unread })
}

struct Unread {
    bytes: Bytes,
    _held: Option<Held>,
    _unread: Option<activity::Unread>,
}

impl AsRef<[u8]> for Unread {
    fn as_ref(&self) -> &[u8] {
        &self.bytes
    }
}

/// The body of an answer.
struct AnswerBody {
    inner: Offloaded<Body, Option<Result<Frame<Bytes>, Status>>>,
    /// The first frame of a single answer, which is already counted.
    first: Option<Frame<Bytes>>,
    /// Where the frames of a stream count as unread.
    activity: Option<Arc<Activity>>,
    _kept: Kept,
}

impl http_body::Body for AnswerBody {
    type Data = Bytes;
    type Error = Status;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, Status>>> {
        if let Some(first) = self.first.take() {
            return Poll::Ready(Some(Ok(first)));
        }
        let frame = ready!(self.inner.poll(context));
        let Some(activity) = &self.activity else { return Poll::Ready(frame) };
        let counted = |frame: Frame<Bytes>| frame.map_data(|bytes| until_read(bytes, None, Some(activity)));
        Poll::Ready(frame.map(|frame| frame.map(counted)))
    }

    fn is_end_stream(&self) -> bool {
        self.first.is_none() && self.inner.get().is_some_and(Body::is_end_stream)
    }
}
