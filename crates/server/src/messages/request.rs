//! The body of a request: passes messages on once they are whole.

use std::{
    collections::VecDeque,
    io,
    pin::Pin,
    sync::Arc,
    task::{Context, Poll, ready},
};

use bytes::Bytes;
use http_body::{Body as _, Frame};
use parking_lot::Mutex;
use tokio::time::{Sleep, sleep};
use tonic::{Status, body::Body};

use super::{
    budget::Taken,
    cut::{Announced, Cutter, HEAD, Piece},
    gzip,
    kind::{Call, Kind},
    pace::Pace,
    refusals,
    room::Room,
};
use utterd_domain::limits::{
    IMPORT_PATIENCE, MESSAGE_GROWTH, ROOM_PATIENCE, SMALL_MESSAGE_BYTES, TINY_MESSAGE_BYTES,
};
use utterd_engine::{LONG_TEXT_BYTES, offload};
use utterd_rpc::message_too_large;

type Waits = Pin<Box<dyn Future<Output = Option<Taken>> + Send>>;
type Unpacks = Pin<Box<dyn Future<Output = io::Result<Bytes>> + Send>>;

/// The body of a request, in whole messages.
///
/// The decoder that reads it sees a message only as a whole: the decoder reserves the announced length, so a message
/// that never arrives would cost as much memory as one that does.
pub struct RequestBody {
    inner: Body,
    call: Call,
    /// Whether compressed messages are gzip.
    gzip: bool,
    most: usize,
    cutter: Cutter,
    room: Arc<Mutex<Room>>,
    pace: Pace,
    pause: Option<Pin<Box<Sleep>>>,
    /// Whole messages.
    ready: VecDeque<Bytes>,
    /// The number of messages that have arrived.
    count: usize,
    /// The pending wait for room, and what to do once it is there.
    waits: Option<(Waits, Then)>,
    /// A message that is being unpacked.
    unpacks: Option<Unpacks>,
    ended: bool,
}

/// What to do once there is room.
enum Then {
    Receive,
    Unpack(VecDeque<Bytes>),
    HandOn(VecDeque<Bytes>, usize),
}

impl RequestBody {
    /// The body `inner` of a call, whose messages are at most `most` bytes long and take `room`.
    pub fn new(inner: Body, call: Call, gzip: bool, most: usize, room: Arc<Mutex<Room>>) -> Self {
        Self {
            inner,
            call,
            gzip,
            most,
            cutter: Cutter::new(SMALL_MESSAGE_BYTES),
            room,
            pace: Pace::default(),
            pause: None,
            ready: VecDeque::new(),
            count: 0,
            waits: None,
            unpacks: None,
            ended: false,
        }
    }

    /// Returns the next frame; `None` at the end.
    fn poll_next(&mut self, context: &mut Context<'_>) -> Poll<Result<Option<Frame<Bytes>>, Status>> {
        loop {
            if let Some(bytes) = self.ready.pop_front() {
                return Poll::Ready(Ok(Some(Frame::data(bytes))));
            }
            if self.ended {
                return Poll::Ready(Ok(None));
            }
            if let Some((waits, _)) = &mut self.waits {
                let taken = ready!(waits.as_mut().poll(context));
                self.go_on(taken)?;
                continue;
            }
            if let Some(unpacks) = &mut self.unpacks {
                let unpacked = ready!(unpacks.as_mut().poll(context));
                self.unpacks = None;
                self.weigh_unpacked(unpacked)?;
                continue;
            }
            match self.cutter.next() {
                Piece::Whole(bytes, 1) if bytes.len() > TINY_MESSAGE_BYTES => {
                    self.weigh(bytes.len() - HEAD, VecDeque::from([bytes]))?;
                }
                Piece::Whole(bytes, count) => {
                    let length = bytes.len();
                    self.hand_on_with_room(VecDeque::from([bytes]), count, length)?;
                }
                Piece::Begun(announced) => self.begin(announced)?,
                Piece::Message(announced, pieces) => self.finish(announced, pieces)?,
                Piece::More => match ready!(self.poll_more(context))? {
                    Some(frame) => return Poll::Ready(Ok(Some(frame))),
                    None => continue,
                },
            }
        }
    }

    /// Reads more. Returns a frame that is not data.
    fn poll_more(&mut self, context: &mut Context<'_>) -> Poll<Result<Option<Frame<Bytes>>, Status>> {
        let frame = match Pin::new(&mut self.inner).poll_frame(context) {
            Poll::Ready(frame) => frame.transpose()?,
            Poll::Pending => return self.poll_late(context).map(Err),
        };
        self.pause = None;
        Poll::Ready(match frame.map(Frame::into_data) {
            Some(Ok(chunk)) => {
                self.pace.came(chunk.len());
                self.cutter.push(chunk);
                Ok(None)
            }
            Some(Err(other)) => Ok(Some(other)),
            None if self.cutter.is_within() => Err(refusals::cut_off()),
            None => {
                self.ended = true;
                Ok(None)
            }
        })
    }

    /// Waits until the client is too slow, and returns the error.
    fn poll_late(&mut self, context: &mut Context<'_>) -> Poll<Status> {
        if self.cutter.is_within() || self.call.kind == Kind::One {
            ready!(self.pace.poll_late(context));
            return Poll::Ready(refusals::late());
        }
        if self.call.kind == Kind::All && self.count > 0 {
            let pause = self.pause.get_or_insert_with(|| Box::pin(sleep(IMPORT_PATIENCE)));
            ready!(pause.as_mut().poll(context));
            return Poll::Ready(refusals::paused());
        }
        Poll::Pending
    }

    fn begin(&mut self, announced: Announced) -> Result<(), Status> {
        if announced.length > self.most {
            return Err(message_too_large(self.most));
        }
        self.wait_unless_room(announced.length, Then::Receive);
        Ok(())
    }

    fn finish(&mut self, announced: Announced, pieces: VecDeque<Bytes>) -> Result<(), Status> {
        // the decoder refuses any other compression
        if !announced.compressed || !self.gzip {
            return self.weigh(announced.length, pieces);
        }
        let unpacked = gzip::unpacked_length(&pieces);
        if unpacked > self.most {
            return Err(message_too_large(self.most));
        }
        self.wait_unless_room(announced.length + unpacked, Then::Unpack(pieces));
        Ok(())
    }

    fn unpack(&mut self, pieces: VecDeque<Bytes>) {
        let (most, is_long) = (self.most, gzip::unpacked_length(&pieces) > LONG_TEXT_BYTES);
        self.unpacks = Some(Box::pin(offload(is_long, move || gzip::unpack(pieces, most))));
    }

    fn weigh_unpacked(&mut self, unpacked: io::Result<Bytes>) -> Result<(), Status> {
        let message = unpacked.map_err(|error| refusals::not_unpacked(&error))?;
        match message.len() - HEAD {
            length if length > self.most => Err(message_too_large(self.most)),
            length => self.weigh(length, VecDeque::from([message])),
        }
    }

    /// Takes room for a message as it will be once decoded.
    fn weigh(&mut self, length: usize, pieces: VecDeque<Bytes>) -> Result<(), Status> {
        let weight = match self.call.layout {
            Some(layout) if length > TINY_MESSAGE_BYTES => layout.weigh(&pieces, HEAD),
            _ => length,
        };
        let most = MESSAGE_GROWTH * self.most;
        if weight > most {
            return Err(refusals::too_many_parts(most));
        }
        self.hand_on_with_room(pieces, 1, weight.max(length))
    }

    fn hand_on_with_room(
        &mut self,
        pieces: VecDeque<Bytes>,
        count: usize,
        bytes: usize,
    ) -> Result<(), Status> {
        self.count += count;
        if self.call.kind == Kind::One && self.count > 1 {
            return Err(refusals::second_message());
        }
        self.wait_unless_room(bytes, Then::HandOn(pieces, count));
        Ok(())
    }

    fn wait_unless_room(&mut self, bytes: usize, then: Then) {
        let mut room = self.room.lock();
        let lacking = room.receive(bytes);
        let share = room.share().clone();
        drop(room);
        match lacking {
            Ok(()) => self.then(then),
            Err(lacking) => self.waits = Some((Box::pin(share.take(lacking, ROOM_PATIENCE)), then)),
        }
    }

    fn go_on(&mut self, taken: Option<Taken>) -> Result<(), Status> {
        let Some((_, then)) = self.waits.take() else { return Ok(()) };
        self.room.lock().add(taken.ok_or_else(refusals::no_room)?);
        self.pace.rest();
        self.then(then);
        Ok(())
    }

    fn then(&mut self, then: Then) {
        match then {
            Then::Receive => {}
            Then::Unpack(pieces) => self.unpack(pieces),
            Then::HandOn(pieces, count) => {
                self.pace.rest();
                self.room.lock().hand_on(count);
                self.ready = pieces;
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
        if next.is_err() {
            // frees what is held for the refused call immediately
            self.ended = true;
            self.cutter = Cutter::new(SMALL_MESSAGE_BYTES);
            self.inner = Body::empty();
        }
        Poll::Ready(next.transpose())
    }

    fn is_end_stream(&self) -> bool {
        self.ended && self.ready.is_empty()
    }
}
