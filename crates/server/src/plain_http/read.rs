//! Reading the bodies of requests, within the memory that there is for messages.

use std::{fmt::Display, future::poll_fn, ops::Deref, pin::Pin, sync::Arc, task::Poll};

use bytes::Bytes;
use http::{Request, StatusCode};
use http_body::{Body, Frame};
use tonic::{Code, Status};

use super::status_of;
use crate::{
    guard::{Guard, access::Access},
    messages::{Messages, Pace, Share, Taken, late, no_room},
};
use utterd_domain::limits::{MAX_PASSED_OVER_BYTES, ROOM_PATIENCE, SMALL_MESSAGE_BYTES, STRANGER_BODY_BYTES};
use utterd_rpc::too_large;

/// Bodies take room in steps of at least this many bytes.
const STEP: usize = 64 << 10;

/// Why a body cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum ReadError {
    /// The connection broke.
    #[error("the request cannot be read: {0}")]
    Broken(String),
    /// It has more bytes than accepted.
    #[error("the request is too large; accepted: at most {0} bytes")]
    TooLarge(usize),
    /// The caller may not make the call, there is no room, or the body did not arrive in time.
    #[error("{}", .0.message())]
    Refused(Box<Status>),
}

impl ReadError {
    /// The status of HTTP.
    pub fn code(&self) -> StatusCode {
        match self {
            Self::Broken(_) => StatusCode::BAD_REQUEST,
            Self::TooLarge(_) => StatusCode::PAYLOAD_TOO_LARGE,
            Self::Refused(status) if status.code() == Code::DeadlineExceeded => StatusCode::REQUEST_TIMEOUT,
            Self::Refused(status) => status_of(status.code()),
        }
    }
}

impl From<ReadError> for Status {
    fn from(error: ReadError) -> Self {
        match error {
            ReadError::Broken(_) => Self::cancelled(error.to_string()),
            ReadError::TooLarge(most) => too_large(most, error.to_string()),
            ReadError::Refused(status) => *status,
        }
    }
}

/// The memory for bodies. It is the memory for the messages of calls, of which each caller has a share.
#[derive(Clone)]
pub struct Room {
    messages: Messages,
    guard: Option<Arc<Guard>>,
}

/// A body, which takes up room until it is dropped.
pub struct Held {
    content: Vec<u8>,
    taken: Option<Taken>,
}

impl Deref for Held {
    type Target = [u8];

    fn deref(&self) -> &[u8] {
        &self.content
    }
}

impl AsRef<[u8]> for Held {
    fn as_ref(&self) -> &[u8] {
        &self.content
    }
}

impl Room {
    /// The memory of `messages`; if there is a guard, for the callers that it lets in.
    pub fn new(messages: Messages, guard: Option<Arc<Guard>>) -> Self {
        Self { messages, guard }
    }

    /// Memory of its own, for bodies of at most `most` bytes.
    pub fn alone(most: usize) -> Self {
        Self::new(Messages::new(most), None)
    }

    /// Reads the body of a request that stands for a call with `access`: at most `most` bytes. Its caller needs its
    /// credential first.
    pub async fn read<B>(
        &self,
        mut request: Request<B>,
        access: Access,
        most: usize,
    ) -> Result<Held, ReadError>
    where
        B: Body<Data = Bytes, Error: Display> + Unpin,
    {
        let refused = |status: Status| ReadError::Refused(status.into());
        let most = match &self.guard {
            Some(_) if access == Access::Open => most.min(STRANGER_BODY_BYTES),
            Some(guard) => {
                let principal = guard.caller(&request, access).map_err(refused)?;
                request.extensions_mut().insert(principal);
                most
            }
            None => most,
        };
        let share = self.messages.share(request.extensions());
        Reading { share, most, pace: Pace::default() }.read(request.into_body()).await
    }
}

/// A body that arrives.
struct Reading {
    share: Arc<Share>,
    most: usize,
    pace: Pace,
}

impl Reading {
    /// Reads a body. If it is too long, reads the rest too, up to a limit: a client that is still sending would not
    /// see the answer.
    async fn read<B>(mut self, mut body: B) -> Result<Held, ReadError>
    where
        B: Body<Data = Bytes, Error: Display> + Unpin,
    {
        let mut held = Held { content: Vec::new(), taken: None };
        let mut length = 0;
        let is_too_large = body.size_hint().lower() > self.most as u64;
        while let Some(data) = self.next(&mut body).await? {
            length += data.len();
            if length <= self.most && !is_too_large {
                self.keep(&mut held, &data).await?;
            } else if length > MAX_PASSED_OVER_BYTES.max(self.most) {
                break;
            } else {
                held = Held { content: Vec::new(), taken: None };
            }
        }
        if is_too_large || length > self.most { Err(ReadError::TooLarge(self.most)) } else { Ok(held) }
    }

    /// Returns the next part; `None` at the end. It has to arrive in time.
    async fn next<B>(&mut self, body: &mut B) -> Result<Option<Bytes>, ReadError>
    where
        B: Body<Data = Bytes, Error: Display> + Unpin,
    {
        let next = poll_fn(|context| match Pin::new(&mut *body).poll_frame(context) {
            Poll::Ready(frame) => Poll::Ready(Ok(frame)),
            Poll::Pending => self.pace.poll_late(context).map(|()| Err(ReadError::Refused(late().into()))),
        });
        let Some(frame) = next.await? else { return Ok(None) };
        let frame = frame.map_err(|error| ReadError::Broken(error.to_string()))?;
        let data = frame.into_data().unwrap_or_else(|_: Frame<Bytes>| Bytes::new());
        self.pace.came(data.len());
        Ok(Some(data))
    }

    /// Adds a part, once there is room for it. A small body needs no room: the number of connections bounds these.
    async fn keep(&mut self, held: &mut Held, data: &[u8]) -> Result<(), ReadError> {
        let length = held.content.len() + data.len();
        if length > SMALL_MESSAGE_BYTES && length > held.content.capacity() {
            let capacity = length.next_power_of_two().max(STEP).min(self.most);
            let lacking = capacity - held.taken.as_ref().map_or(0, Taken::bytes);
            let taken = self.share.clone().take(lacking, ROOM_PATIENCE).await;
            let taken = taken.ok_or_else(|| ReadError::Refused(no_room().into()))?;
            match &mut held.taken {
                Some(before) => before.join(taken),
                None => held.taken = Some(taken),
            }
            held.content.reserve_exact(capacity - held.content.len());
            self.pace.rest();
        }
        held.content.extend_from_slice(data);
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use futures::{StreamExt as _, channel::mpsc, stream};
    use http_body_util::{Full, StreamBody};
    use tokio::{task::JoinHandle, time::Instant};

    use super::*;
    use crate::transport::connection::Peer;
    use utterd_domain::limits::{LEAST_MESSAGE_RATE, MESSAGE_BYTES, MESSAGE_PATIENCE};

    const MIB: usize = 1 << 20;

    fn room() -> Room {
        Room::new(Messages::new(16 * MIB), None)
    }

    fn full(size: usize) -> Full<Bytes> {
        Full::new(vec![7; size].into())
    }

    async fn read<B>(room: &Room, connection: u64, body: B, most: usize) -> Result<Held, ReadError>
    where
        B: Body<Data = Bytes, Error: Display> + Unpin,
    {
        let mut request = Request::new(body);
        request.extensions_mut().insert(Peer::new(connection, None));
        room.read(request, Access::Write, most).await
    }

    /// Begins to read a body that ends when the sender is dropped.
    fn begin(
        room: &Room,
        connection: u64,
    ) -> (mpsc::UnboundedSender<Bytes>, JoinHandle<Result<Held, ReadError>>) {
        let (sender, parts) = mpsc::unbounded();
        let body = StreamBody::new(parts.map(|part| Ok::<_, String>(Frame::data(part))));
        let room = room.clone();
        (sender, tokio::spawn(async move { read(&room, connection, Box::pin(body), 16 * MIB).await }))
    }

    fn is_refused(read: Result<Held, ReadError>, code: StatusCode) -> bool {
        read.err().is_some_and(|error| error.code() == code)
    }

    #[tokio::test]
    async fn a_body_has_a_limit() {
        let room = room();
        assert_eq!(read(&room, 1, full(9), 9).await.unwrap().len(), 9);
        assert_eq!(read(&room, 1, full(MIB), MIB).await.unwrap().len(), MIB);
        assert!(matches!(read(&room, 1, full(10), 9).await, Err(ReadError::TooLarge(9))));
        let parts =
            || stream::iter((0..3).map(|_| Ok::<_, String>(Frame::data(Bytes::from_static(b"1234")))));
        assert!(matches!(read(&room, 1, StreamBody::new(parts()), 9).await, Err(ReadError::TooLarge(9))));
        let parts = stream::iter([Ok(Frame::data(Bytes::from_static(b"12345"))), Err("gone".to_owned())]);
        let Err(error) = read(&room, 1, StreamBody::new(parts), 9).await else { panic!("it broke") };
        assert_eq!(error.to_string(), "the request cannot be read: gone");
    }

    /// Bytes that were announced do not count until they arrive.
    #[tokio::test(start_paused = true)]
    async fn bodies_that_are_announced_keep_nobody_waiting() {
        let room = room();
        let slow: Vec<_> = (0..100).map(|connection| begin(&room, connection)).collect();
        for (sender, _) in &slow {
            sender.unbounded_send(Bytes::from_static(b"{")).unwrap();
        }
        let started = Instant::now();
        assert_eq!(read(&room, 100, full(16 * MIB), 16 * MIB).await.unwrap().len(), 16 * MIB);
        assert!(started.elapsed() < MESSAGE_PATIENCE);
        for (_sender, slow) in slow {
            assert!(is_refused(slow.await.unwrap(), StatusCode::REQUEST_TIMEOUT));
        }
    }

    #[tokio::test(start_paused = true)]
    async fn bodies_share_the_room_of_messages() {
        let room = room();
        let slow: Vec<_> = (0..8).map(|connection| begin(&room, connection)).collect();
        for (sender, _) in &slow {
            sender.unbounded_send(vec![7; 15 * MIB].into()).unwrap();
        }
        let share = room.messages.share(&http::Extensions::new());
        let most = async {
            let (mut refused, mut slow) = (0, slow);
            while refused < 4 {
                let (_, ended) = slow.pop().expect("some have room");
                refused += usize::from(is_refused(ended.await.unwrap(), StatusCode::TOO_MANY_REQUESTS));
            }
            slow
        };
        let slow = most.await;
        assert!(share.try_take_all(MESSAGE_BYTES / 2).is_none(), "others hold it");
        drop(slow);
        while share.try_take_all(MESSAGE_BYTES).is_none() {
            tokio::task::yield_now().await;
        }
    }

    #[tokio::test(start_paused = true)]
    async fn a_body_has_to_go_on_arriving() {
        let room = room();
        let (sender, slow) = begin(&room, 1);
        let started = Instant::now();
        for _ in 0..6 {
            let enough = LEAST_MESSAGE_RATE * MESSAGE_PATIENCE.as_secs() as usize;
            sender.unbounded_send(vec![7; enough].into()).unwrap();
            tokio::time::sleep(MESSAGE_PATIENCE / 2).await;
        }
        assert!(!slow.is_finished());
        assert!(is_refused(slow.await.unwrap(), StatusCode::REQUEST_TIMEOUT));
        assert!(started.elapsed() <= 5 * MESSAGE_PATIENCE);
    }
}
