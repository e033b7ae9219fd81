//! A call in progress.

use std::{
    pin::Pin,
    sync::Arc,
    task::{Context, Poll},
};

use bytes::Bytes;
use http::Response;
use http_body::{Body as _, Frame};
use parking_lot::Mutex;
use tonic::{Status, body::Body};

use super::{
    answer::{AnswerBody, Unread},
    budget::Taken,
    kind::{Call, Kind},
    refusals,
    room::Room,
};
use utterd_rpc::Combined;

/// The pending response.
pub enum CallFuture<F> {
    /// The call is passed on.
    Made(Made<F>),
    /// The call is refused.
    Refused(Option<Status>),
}

/// A call that is passed on.
pub struct Made<F> {
    inner: Pin<Box<F>>,
    call: Call,
    /// The bytes that it holds while it is open.
    open: Option<Taken>,
    room: Arc<Mutex<Room>>,
    unread: Unread,
}

impl<F> CallFuture<F> {
    /// A call that holds `open`, whose messages take `room`, and whose answers count as `unread`.
    pub fn new(inner: F, call: Call, open: Taken, room: Arc<Mutex<Room>>, unread: Unread) -> Self {
        Self::Made(Made { inner: Box::pin(inner), call, open: Some(open), room, unread })
    }

    /// A refused call.
    pub fn refused(status: Status) -> Self {
        Self::Refused(Some(status))
    }
}

impl<F, E> Future for CallFuture<F>
where
    F: Future<Output = Result<Response<Body>, E>>,
{
    type Output = Result<Response<Body>, E>;

    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Self::Output> {
        match &mut *self {
            Self::Made(made) => {
                let response = made.inner.as_mut().poll(context);
                response.map(|response| response.map(|response| made.answer(response, context)))
            }
            Self::Refused(status) => {
                let status = status.take().unwrap_or_else(|| Status::internal("polled after its end"));
                Poll::Ready(Ok(status.into_http()))
            }
        }
    }
}

impl<F> Made<F> {
    fn answer(&mut self, response: Response<Body>, context: &mut Context<'_>) -> Response<Body> {
        self.room.lock().all_answered();
        if !self.call.answers_once {
            let combined = || response.extensions().get::<Combined>().cloned().unwrap_or_default();
            let room = (self.call.kind == Kind::Each).then(|| (self.room.clone(), combined()));
            let (unread, open) = (self.unread.clone(), self.open.take());
            return response.map(|body| Body::new(AnswerBody::of_many(body, unread, open, room)));
        }
        // encoded immediately: until then the answer is a tree of messages, several times as large
        let (parts, mut body) = response.into_parts();
        match first(&mut body, context) {
            None => Response::from_parts(parts, body),
            Some(first) => match self.count(first) {
                Some(first) => Response::from_parts(parts, Body::new(AnswerBody::of_one(body, first))),
                None => refusals::unread().into_http(),
            },
        }
    }

    /// Counts an answer as unread; `None` if there is no room for it. The answer of a call that can change something is
    /// always sent, and so is a small one.
    fn count(&mut self, answer: Frame<Bytes>) -> Option<Frame<Bytes>> {
        let answer = match answer.into_data() {
            Ok(answer) => answer,
            Err(other) => return Some(other),
        };
        self.unread.count(answer, self.open.take(), self.call.changes).map(Frame::data)
    }
}

/// Returns the frame that a body has ready, if any.
fn first(body: &mut Body, context: &mut Context<'_>) -> Option<Frame<Bytes>> {
    if body.is_end_stream() {
        return None;
    }
    match Pin::new(body).poll_frame(context) {
        Poll::Ready(Some(Ok(frame))) => Some(frame),
        _ => None,
    }
}
