//! The body of a request: large messages take room before they are received, and messages must arrive in time.

use std::{
    pin::Pin,
    task::{Context, Poll, ready},
};

use bytes::{Buf as _, Bytes};
use futures::future::BoxFuture;
use http_body::{Body as _, Frame};
use tonic::{Status, body::Body};

use super::{answer::MessageRoom, pace::Pace, refusals};
use crate::guard::methods::{Count, Method, Origin};
use utterd_domain::limits::{MAX_UNPACKING, SMALL_MESSAGE_BYTES};
use utterd_rpc::{Held, Room, no_room};

/// The bytes before each message: whether it is compressed, and its length.
const HEAD: usize = 5;

/// The body of a request. It hands on what arrives, except that a large message first takes room: its length, or
/// what a compressed one can become. The room is given back with the next message of a stream, or with the answer.
pub struct RequestBody {
    inner: Body,
    /// Whether the call takes only one message.
    takes_one: bool,
    most: usize,
    room: Room,
    held: MessageRoom,
    pace: Pace,
    progress: Progress,
    /// A chunk that waits for room.
    waiting: Option<(BoxFuture<'static, Option<Held>>, Bytes)>,
}

/// How far the messages have arrived.
#[derive(Default)]
struct Progress {
    /// The next message's head, of which so many bytes have arrived.
    head: [u8; HEAD],
    head_length: usize,
    /// The bytes of the current message still missing.
    rest: usize,
    /// The number of messages that have begun.
    count: usize,
}

impl RequestBody {
    /// The body `inner` of a call of `method`, whose messages have at most `most` bytes. Large ones take `room`, which
    /// is kept in `held`.
    pub fn new(inner: Body, method: &Method, most: usize, room: Room, held: MessageRoom) -> Self {
        let takes_one = method.origin != Origin::Unknown && method.takes == Count::One;
        let (pace, progress, waiting) = Default::default();
        Self { inner, takes_one, most, room, held, pace, progress, waiting }
    }

    fn poll_next(&mut self, context: &mut Context<'_>) -> Poll<Option<Result<Frame<Bytes>, Status>>> {
        if self.waiting.is_none() {
            let frame = match Pin::new(&mut self.inner).poll_frame(context) {
                Poll::Ready(frame) => frame,
                Poll::Pending if self.takes_one || self.progress.is_within_message() => {
                    return self.pace.poll_late(context).map(|()| Some(Err(refusals::late())));
                }
                Poll::Pending => return Poll::Pending,
            };
            match frame.map(|frame| frame.map(Frame::into_data)) {
                Some(Ok(Ok(chunk))) => match self.receive(&chunk)? {
                    None => return Poll::Ready(Some(Ok(Frame::data(chunk)))),
                    Some(bytes) => {
                        let room = self.room.clone();
                        self.waiting = Some((Box::pin(async move { room.take(bytes).await }), chunk));
                    }
                },
                Some(Ok(Err(trailers))) => return Poll::Ready(Some(Ok(trailers))),
                Some(Err(status)) => return Poll::Ready(Some(Err(status))),
                None => return Poll::Ready(None),
            }
        }
        let Some((room, chunk)) = &mut self.waiting else { return Poll::Pending };
        let (held, chunk) = (ready!(room.as_mut().poll(context)), std::mem::take(chunk));
        self.waiting = None;
        self.pace.rest();
        *self.held.lock() = Some(held.ok_or_else(no_room)?);
        Poll::Ready(Some(Ok(Frame::data(chunk))))
    }

    /// Notes that a chunk arrived; returns the bytes that the large message which begins in it takes.
    fn receive(&mut self, chunk: &[u8]) -> Result<Option<usize>, Status> {
        self.pace.came(chunk.len());
        let (before, largest) = (self.progress.count, self.progress.advance(chunk));
        let begun = self.progress.count;
        if begun > before {
            self.held.lock().take();
        }
        if self.takes_one && begun > 1 {
            return Err(refusals::second_message());
        }
        if !self.progress.is_within_message() {
            self.pace.rest();
        }
        // the decoder refuses what is too large
        let largest = largest.filter(|largest| largest.length <= self.most);
        Ok(largest.map(|largest| largest.bytes(self.most)).filter(|bytes| *bytes > SMALL_MESSAGE_BYTES))
    }
}

/// What the head of a message announces.
struct Announced {
    is_compressed: bool,
    length: usize,
}

impl Announced {
    /// The bytes that the message has once it is unpacked, at most.
    fn bytes(&self, most: usize) -> usize {
        if self.is_compressed { self.length.saturating_mul(MAX_UNPACKING).min(most) } else { self.length }
    }
}

impl Progress {
    fn is_within_message(&self) -> bool {
        self.rest > 0 || self.head_length > 0
    }

    /// Notes that `chunk` arrived; returns the largest message that begins in it.
    fn advance(&mut self, mut chunk: &[u8]) -> Option<Announced> {
        let mut largest: Option<Announced> = None;
        loop {
            let part = self.rest.min(chunk.len());
            self.rest -= part;
            chunk.advance(part);
            let part = (HEAD - self.head_length).min(chunk.len());
            self.head[self.head_length..][..part].copy_from_slice(&chunk[..part]);
            self.head_length += part;
            chunk.advance(part);
            if self.head_length < HEAD {
                return largest;
            }
            let [flag, length @ ..] = self.head;
            let announced =
                Announced { is_compressed: flag != 0, length: u32::from_be_bytes(length) as usize };
            self.head_length = 0;
            self.rest = announced.length;
            self.count += 1;
            if largest.as_ref().is_none_or(|largest| largest.length < announced.length) {
                largest = Some(announced);
            }
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
            self.held.lock().take();
        }
        Poll::Ready(next)
    }

    fn is_end_stream(&self) -> bool {
        self.waiting.is_none() && self.inner.is_end_stream()
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
            let mut progress = Progress::default();
            let begun = sent.chunks(size).filter_map(|chunk| progress.advance(chunk));
            let largest = begun.max_by_key(|announced| announced.length).unwrap();
            assert_eq!((largest.is_compressed, largest.length), (true, 200));
            assert_eq!((progress.count, progress.is_within_message()), (4, false), "in chunks of {size}");
        }
    }
}
