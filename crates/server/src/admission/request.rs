//! The body of a request: large messages take room before they are received, and messages must arrive in time.

use std::{
    pin::Pin,
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
    task::{Context, Poll, ready},
};

use bytes::{Buf as _, Bytes};
use futures::future::BoxFuture;
use http_body::{Body as _, Frame};
use parking_lot::Mutex;
use tonic::{Status, body::Body};

use super::{pace::Pace, refusals};
use crate::guard::methods::{Method, Origin};
use utterd_domain::limits::{MAX_UNPACKING, SMALL_MESSAGE_BYTES};
use utterd_rpc::{Held, Room, no_room};

/// The bytes before each message: whether it is compressed, and its length.
const HEAD: usize = 5;

/// The message of a call that is being received, or that is not answered yet.
#[derive(Default)]
pub struct Message {
    /// Its room, if it is large.
    pub room: Mutex<Option<Held>>,
    is_long: AtomicBool,
}

impl Message {
    /// Whether the next poll of the call decodes a large message; asked once for each.
    pub fn take_long(&self) -> bool {
        self.is_long.swap(false, Ordering::Relaxed)
    }
}

/// The body of a request. It hands on what arrives, except that a large message first takes room: its length, or
/// what a compressed one can become. The room is given back with the next message of a stream, or with the answer.
/// Before it hands on the end of a large message, it lets the call move to [another thread](super::offloaded).
pub struct RequestBody {
    inner: Body,
    /// Whether the call takes only one message.
    takes_one: bool,
    room: Room,
    message: Arc<Message>,
    pace: Pace,
    progress: Progress,
    /// The room that the next chunk waits for.
    waiting: Option<BoxFuture<'static, Option<Held>>>,
    next: Option<Bytes>,
}

/// How far the messages have arrived.
#[derive(Default)]
struct Progress {
    /// The most bytes of a message.
    most: usize,
    /// The next message's head, of which so many bytes have arrived.
    head: [u8; HEAD],
    head_length: usize,
    /// The bytes of the current message still missing.
    rest: usize,
    /// Whether the current message is large.
    is_large: bool,
    /// Whether a large message has arrived and is not handed on yet.
    is_large_complete: bool,
    /// The number of messages that have begun.
    count: usize,
}

impl RequestBody {
    /// The body `inner` of a call of `method`, whose messages have at most `most` bytes. Large ones take `room`, which
    /// is kept in `message`.
    pub fn new(inner: Body, method: &Method, most: usize, room: Room, message: Arc<Message>) -> Self {
        let takes_one = method.origin != Origin::Unknown && !method.takes_many;
        let progress = Progress { most, ..Progress::default() };
        let (pace, waiting, next) = Default::default();
        Self { inner, takes_one, room, message, pace, progress, waiting, next }
    }

    fn poll_next(&mut self, context: &mut Context<'_>) -> Poll<Option<Result<Frame<Bytes>, Status>>> {
        if self.next.is_none() {
            let frame = match Pin::new(&mut self.inner).poll_frame(context) {
                Poll::Ready(frame) => frame,
                Poll::Pending if self.takes_one || self.progress.is_within_message() => {
                    return self.pace.poll_late(context).map(|()| Some(Err(refusals::late())));
                }
                Poll::Pending => return Poll::Pending,
            };
            match frame.map(|frame| frame.map(Frame::into_data)) {
                Some(Ok(Ok(chunk))) => {
                    self.receive(&chunk)?;
                    self.next = Some(chunk);
                }
                Some(Ok(Err(trailers))) => return Poll::Ready(Some(Ok(trailers))),
                Some(Err(status)) => return Poll::Ready(Some(Err(status))),
                None => return Poll::Ready(None),
            }
        }
        if let Some(room) = &mut self.waiting {
            let held = ready!(room.as_mut().poll(context));
            self.waiting = None;
            self.pace.rest();
            *self.message.room.lock() = Some(held.ok_or_else(no_room)?);
        }
        if std::mem::take(&mut self.progress.is_large_complete) {
            self.message.is_long.store(true, Ordering::Relaxed);
            context.waker().wake_by_ref();
            return Poll::Pending;
        }
        Poll::Ready(self.next.take().map(|chunk| Ok(Frame::data(chunk))))
    }

    /// Notes that a chunk arrived; if a large message begins in it, takes room for that.
    fn receive(&mut self, chunk: &[u8]) -> Result<(), Status> {
        self.pace.came(chunk.len());
        let (before, largest) = (self.progress.count, self.progress.advance(chunk));
        let begun = self.progress.count;
        if begun > before {
            self.message.room.lock().take();
        }
        if self.takes_one && begun > 1 {
            return Err(refusals::second_message());
        }
        if !self.progress.is_within_message() {
            self.pace.rest();
        }
        if largest > SMALL_MESSAGE_BYTES {
            let room = self.room.clone();
            self.waiting = Some(Box::pin(async move { room.take(largest).await }));
        }
        Ok(())
    }
}

impl Progress {
    fn is_within_message(&self) -> bool {
        self.rest > 0 || self.head_length > 0
    }

    /// Notes that `chunk` arrived; returns the bytes of the largest message that begins in it, once it is unpacked.
    fn advance(&mut self, mut chunk: &[u8]) -> usize {
        let mut largest = 0;
        loop {
            let part = self.rest.min(chunk.len());
            self.rest -= part;
            chunk.advance(part);
            if self.rest == 0 {
                self.is_large_complete |= std::mem::take(&mut self.is_large);
            }
            let part = (HEAD - self.head_length).min(chunk.len());
            self.head[self.head_length..][..part].copy_from_slice(&chunk[..part]);
            self.head_length += part;
            chunk.advance(part);
            if self.head_length < HEAD {
                return largest;
            }
            let bytes = self.begin();
            self.is_large = bytes > SMALL_MESSAGE_BYTES;
            largest = largest.max(bytes);
        }
    }

    /// Begins the message whose head has arrived; returns the bytes that it has once it is unpacked, at most.
    fn begin(&mut self) -> usize {
        let [flag, length @ ..] = self.head;
        self.rest = u32::from_be_bytes(length) as usize;
        self.head_length = 0;
        self.count += 1;
        match flag {
            // the decoder refuses what is too large
            _ if self.rest > self.most => 0,
            0 => self.rest,
            _ => self.rest.saturating_mul(MAX_UNPACKING).min(self.most),
        }
    }
}

impl http_body::Body for RequestBody {
    type Data = Bytes;
    type Error = Status;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, Status>>> {
        let next = ready!(self.poll_next(context));
        if matches!(next, Some(Err(_))) {
            // frees what is held for the refused call immediately
            self.inner = Body::empty();
            self.message.room.lock().take();
        }
        Poll::Ready(next)
    }

    fn is_end_stream(&self) -> bool {
        self.next.is_none() && self.inner.is_end_stream()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn messages_are_found_however_they_are_cut() {
        let message =
            |flag: u8, length: u32| [&[flag][..], &length.to_be_bytes(), &vec![7; length as usize]].concat();
        let sent = [message(0, 3), message(0, 0), message(1, 200), message(0, 70)].concat();
        for size in 1..sent.len() {
            let mut progress = Progress { most: 1_000, ..Progress::default() };
            let largest = sent.chunks(size).map(|chunk| progress.advance(chunk)).max();
            assert_eq!(largest, Some(1_000), "a compressed one can become as large as any");
            assert_eq!((progress.count, progress.is_within_message()), (4, false), "in chunks of {size}");
        }
    }
}
