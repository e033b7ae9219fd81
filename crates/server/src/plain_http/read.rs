//! Reading the bodies of requests, within the memory that there is for messages.

use std::{fmt::Display, future::poll_fn, pin::Pin, sync::Arc, task::Poll};

use bytes::Bytes;
use http::{Request, StatusCode};
use http_body::Body;
use tonic::{Code, Status};

use super::status_of;
use crate::{
    admission::{Pace, caller, late},
    guard::{Guard, Role},
};
use utterd_domain::limits::{MAX_PASSED_OVER_BYTES, SMALL_MESSAGE_BYTES, STRANGER_BODY_BYTES};
use utterd_rpc::{self as rpc, MessageMemory, no_room, too_large};

/// Why a body cannot be used: the status of HTTP, and that of a call.
#[derive(Debug)]
pub struct Unread(pub StatusCode, pub Box<Status>);

/// The caller may not make the call, there is no room, or the body did not arrive in time.
impl From<Status> for Unread {
    fn from(status: Status) -> Self {
        let code = match status.code() {
            Code::DeadlineExceeded => StatusCode::REQUEST_TIMEOUT,
            code => status_of(code),
        };
        Self(code, status.into())
    }
}

/// The memory for bodies. It is the memory for the messages of calls, of which each caller has a share.
#[derive(Clone)]
pub struct Room {
    memory: Arc<MessageMemory>,
    guard: Option<Arc<Guard>>,
}

/// A body, which takes up room until it is dropped.
struct Held {
    content: Vec<u8>,
    _room: Option<rpc::Held>,
}

impl AsRef<[u8]> for Held {
    fn as_ref(&self) -> &[u8] {
        &self.content
    }
}

impl Room {
    /// The room in `memory`; if there is a guard, for the callers that it lets in.
    pub fn new(memory: Arc<MessageMemory>, guard: Option<Arc<Guard>>) -> Self {
        Self { memory, guard }
    }

    /// Memory of its own, for some bodies of at most `most` bytes.
    pub fn alone(most: usize) -> Self {
        Self::new(MessageMemory::new(3 * most), None)
    }

    /// Reads the body of a request that stands for a call, which everybody may make or only a role: at most `most` bytes. Its
    /// caller needs its credential first. A large body takes its room before it is read, and keeps it; it must arrive in time.
    pub async fn read<B>(
        &self,
        mut request: Request<B>,
        needed: Option<Role>,
        most: usize,
    ) -> Result<Bytes, Unread>
    where
        B: Body<Data = Bytes, Error: Display> + Unpin,
    {
        let most = match (&self.guard, needed) {
            (Some(_), None) => most.min(STRANGER_BODY_BYTES),
            (Some(guard), Some(needed)) => {
                let principal = guard.caller(&request, needed)?;
                request.extensions_mut().insert(principal);
                most
            }
            (None, _) => most,
        };
        let size = request.body().size_hint();
        let length =
            size.upper().map_or(most, |upper| usize::try_from(upper).unwrap_or(usize::MAX).min(most));
        let room = match length {
            ..=SMALL_MESSAGE_BYTES => None,
            _ => Some(self.memory.room(caller(request.extensions())).take(length).await.ok_or_else(no_room)?),
        };
        let content = collect(request.into_body(), most, size.lower() > most as u64).await?;
        Ok(Bytes::from_owner(Held { content, _room: room }))
    }
}

/// Collects a body. If it is too long, reads the rest too, up to a limit: a client that is still sending would not see
/// the answer.
async fn collect<B>(mut body: B, most: usize, is_too_large: bool) -> Result<Vec<u8>, Unread>
where
    B: Body<Data = Bytes, Error: Display> + Unpin,
{
    let (mut content, mut length, mut pace) = (Vec::new(), 0, Pace::default());
    loop {
        let next = poll_fn(|context| match Pin::new(&mut body).poll_frame(context) {
            Poll::Ready(frame) => Poll::Ready(Ok(frame)),
            Poll::Pending => pace.poll_late(context).map(|()| Err(late())),
        });
        let Some(frame) = next.await? else { break };
        let frame = frame.map_err(|error| {
            let status = Status::cancelled(format!("the request cannot be read: {error}"));
            Unread(StatusCode::BAD_REQUEST, status.into())
        })?;
        let data = frame.into_data().unwrap_or_else(|_| Bytes::new());
        pace.came(data.len());
        length += data.len();
        if length <= most && !is_too_large {
            content.extend_from_slice(&data);
        } else if length > MAX_PASSED_OVER_BYTES.max(most) {
            break;
        } else {
            content = Vec::new();
        }
    }
    if is_too_large || length > most {
        let status = too_large(most, format!("the request is too large; accepted: at most {most} bytes"));
        return Err(Unread(StatusCode::PAYLOAD_TOO_LARGE, status.into()));
    }
    Ok(content)
}

#[cfg(test)]
mod tests {
    use futures::{StreamExt as _, channel::mpsc, stream};
    use http_body::Frame;
    use http_body_util::{Full, StreamBody};
    use tokio::{task::JoinHandle, time::Instant};

    use super::*;
    use crate::transport::connection::Peer;
    use utterd_domain::limits::{LEAST_MESSAGE_RATE, MESSAGE_BYTES, MESSAGE_PATIENCE};

    const MIB: usize = 1 << 20;

    fn room() -> Room {
        Room::new(MessageMemory::new(MESSAGE_BYTES), None)
    }

    fn full(size: usize) -> Full<Bytes> {
        Full::new(vec![7; size].into())
    }

    async fn read<B>(room: &Room, connection: u64, body: B, most: usize) -> Result<Bytes, Unread>
    where
        B: Body<Data = Bytes, Error: Display> + Unpin,
    {
        let mut request = Request::new(body);
        request.extensions_mut().insert(Peer::new(connection, None));
        room.read(request, None, most).await
    }

    /// Begins to read a body that ends when the sender is dropped.
    fn begin(
        room: &Room,
        connection: u64,
    ) -> (mpsc::UnboundedSender<Bytes>, JoinHandle<Result<Bytes, Unread>>) {
        let (sender, parts) = mpsc::unbounded();
        let body = StreamBody::new(parts.map(|part| Ok::<_, String>(Frame::data(part))));
        let room = room.clone();
        (sender, tokio::spawn(async move { read(&room, connection, Box::pin(body), 16 * MIB).await }))
    }

    fn is_refused(read: Result<Bytes, Unread>, code: StatusCode) -> bool {
        read.err().is_some_and(|error| error.0 == code)
    }

    #[tokio::test]
    async fn a_body_has_a_limit() {
        let room = room();
        assert_eq!(read(&room, 1, full(9), 9).await.unwrap().len(), 9);
        assert_eq!(read(&room, 1, full(MIB), MIB).await.unwrap().len(), MIB);
        assert!(is_refused(read(&room, 1, full(10), 9).await, StatusCode::PAYLOAD_TOO_LARGE));
        let parts =
            || stream::iter((0..3).map(|_| Ok::<_, String>(Frame::data(Bytes::from_static(b"1234")))));
        let read_parts = read(&room, 1, StreamBody::new(parts()), 9).await;
        assert!(is_refused(read_parts, StatusCode::PAYLOAD_TOO_LARGE));
        let parts = stream::iter([Ok(Frame::data(Bytes::from_static(b"12345"))), Err("gone".to_owned())]);
        let Err(error) = read(&room, 1, StreamBody::new(parts), 9).await else { panic!("it broke") };
        assert_eq!(error.1.message(), "the request cannot be read: gone");
    }

    #[tokio::test(start_paused = true)]
    async fn bodies_share_the_room_of_messages() {
        let room = room();
        let slow: Vec<_> = (0..8).map(|connection| begin(&room, connection)).collect();
        for (sender, _) in &slow {
            sender.unbounded_send(Bytes::from_static(b"{")).unwrap();
        }
        assert_eq!(read(&room, 100, full(1_000), 16 * MIB).await.unwrap().len(), 1_000);
        let (mut refused, mut late) = (0, 0);
        for (_sender, slow) in slow {
            match slow.await.unwrap().err().map(|error| error.0) {
                Some(StatusCode::TOO_MANY_REQUESTS) => refused += 1,
                Some(StatusCode::REQUEST_TIMEOUT) => late += 1,
                other => panic!("{other:?}"),
            }
        }
        assert_eq!((refused, late), (5, 3));
        assert_eq!(read(&room, 100, full(16 * MIB), 16 * MIB).await.unwrap().len(), 16 * MIB);
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
