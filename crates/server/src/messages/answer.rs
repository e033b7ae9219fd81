//! The body of a response: counts what is not read yet.

use std::{
    pin::Pin,
    sync::Arc,
    task::{Context, Poll, ready},
};

use bytes::{Buf, Bytes};
use http_body::Frame;
use parking_lot::Mutex;
use tonic::{Status, body::Body};

use super::{
    budget::{Share, Taken},
    cut::{Announced, HEAD},
    room::Room,
};
use crate::transport::activity::{self, Activity};
use utterd_domain::limits::SMALL_ANSWER_BYTES;
use utterd_rpc::Combined;

/// The body of a response. Its bytes count as unread until they are sent.
pub struct AnswerBody {
    inner: Body,
    /// The first frame of a single answer, which is already counted.
    first: Option<Frame<Bytes>>,
    many: Option<Many>,
}

/// The state of a stream of answers.
struct Many {
    unread: Unread,
    /// The bytes that the call holds while it is open.
    _open: Option<Taken>,
    /// The room that is released as the call's messages are answered, and those without a response of their own.
    room: Option<(Arc<Mutex<Room>>, Combined)>,
    waits: Option<Pin<Box<dyn Future<Output = ()> + Send>>>,
}

impl AnswerBody {
    /// The body of a single answer: its first frame, and the rest of `inner`.
    pub fn of_one(inner: Body, first: Frame<Bytes>) -> Self {
        Self { inner, first: Some(first), many: None }
    }

    /// The body of a stream of answers. It does not poll for the next answer while the caller leaves too much unread.
    pub fn of_many(
        inner: Body,
        unread: Unread,
        open: Option<Taken>,
        room: Option<(Arc<Mutex<Room>>, Combined)>,
    ) -> Self {
        Self { inner, first: None, many: Some(Many { unread, _open: open, room, waits: None }) }
    }
}

impl Many {
    fn poll_room(&mut self, context: &mut Context<'_>) -> Poll<()> {
        if self.waits.is_some() || self.unread.share.is_full() {
            let unread = self.unread.share.clone();
            let waits = self.waits.get_or_insert_with(|| Box::pin(unread.until_there_is_room()));
            ready!(waits.as_mut().poll(context));
            self.waits = None;
        }
        Poll::Ready(())
    }

    fn hand_on(&self, answers: Bytes) -> Bytes {
        if let Some((room, combined)) = &self.room {
            room.lock().answered(messages_in(&answers) + combined.take());
        }
        let taken = self.unread.share.take_anyway(answers.len());
        self.unread.held(answers, None, Some(taken))
    }
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
        if let Some(many) = &mut self.many {
            ready!(many.poll_room(context));
        }
        let frame = ready!(Pin::new(&mut self.inner).poll_frame(context));
        Poll::Ready(frame.map(|frame| match (frame.map(Frame::into_data), &self.many) {
            (Ok(Ok(answers)), Some(many)) => Ok(Frame::data(many.hand_on(answers))),
            (Ok(Ok(data)), None) => Ok(Frame::data(data)),
            (Ok(Err(other)), _) => Ok(other),
            (Err(status), _) => Err(status),
        }))
    }

    fn is_end_stream(&self) -> bool {
        self.first.is_none() && self.inner.is_end_stream()
    }
}

/// The unread answers of one caller on one connection.
#[derive(Clone)]
pub struct Unread {
    /// The caller's share.
    share: Arc<Share>,
    activity: Option<Arc<Activity>>,
}

impl Unread {
    /// The unread answers of a caller with this share, on a connection with this activity.
    pub fn new(share: Arc<Share>, activity: Option<Arc<Activity>>) -> Self {
        Self { share, activity }
    }

    /// Counts an answer to a call that holds `open`; `None` if there is no room for it. The answer of a call that can
    /// change something is always sent, and so is a small one.
    pub fn count(&self, answer: Bytes, open: Option<Taken>, changes: bool) -> Option<Bytes> {
        let taken = match answer.len() {
            ..=SMALL_ANSWER_BYTES => None,
            length if changes => Some(self.share.take_anyway(length)),
            length => Some(self.share.try_take(length)?),
        };
        Some(self.held(answer, open, taken))
    }

    fn held(&self, bytes: Bytes, open: Option<Taken>, taken: Option<Taken>) -> Bytes {
        let unread = self.activity.as_ref().map(|activity| activity.unread(bytes.len()));
        Bytes::from_owner(Held { bytes, _open: open, _taken: taken, _unread: unread })
    }
}

/// Bytes that count until they are dropped.
struct Held {
    bytes: Bytes,
    /// The bytes that the call holds.
    _open: Option<Taken>,
    /// The bytes of its answer.
    _taken: Option<Taken>,
    _unread: Option<activity::Unread>,
}

impl AsRef<[u8]> for Held {
    fn as_ref(&self) -> &[u8] {
        &self.bytes
    }
}

/// Counts the messages in `bytes`, which hold only whole ones.
fn messages_in(mut bytes: &[u8]) -> usize {
    let mut count = 0;
    while let Some(announced) = Announced::read(bytes) {
        bytes.advance((HEAD + announced.length).min(bytes.len()));
        count += 1;
    }
    count
}
