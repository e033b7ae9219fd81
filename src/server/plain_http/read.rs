//! Reading the bodies of requests, within the memory that there is for them.

use std::{fmt::Display, ops::Deref, sync::Arc};

use bytes::Bytes;
use http_body::Body;
use http_body_util::BodyExt as _;
use tokio::{
    sync::{OwnedSemaphorePermit, Semaphore},
    time::timeout,
};

use crate::domain::limits::{HTTP_BODY_BYTES, HTTP_PATIENCE, MAX_PASSED_OVER_BYTES};

/// Why a body cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum ReadError {
    /// The connection broke.
    #[error("the request cannot be read: {0}")]
    Broken(String),
    /// It has more bytes than accepted.
    #[error("the request is too large; accepted: at most {most} bytes")]
    TooLarge {
        /// The most bytes.
        most: usize,
    },
    /// It did not arrive in time, or others took all the memory for bodies in the meantime.
    #[error("the request did not arrive within {HTTP_PATIENCE:?}")]
    Slow,
}

/// The memory for the bodies of a listener. Callers need no credential to send one, so all of them share it.
#[derive(Clone)]
pub struct Room(Arc<Semaphore>);

/// A body, which takes up room until it is dropped.
pub struct Held {
    content: Vec<u8>,
    _place: Option<OwnedSemaphorePermit>,
}

impl Deref for Held {
    type Target = [u8];

    fn deref(&self) -> &[u8] {
        &self.content
    }
}

impl Default for Room {
    fn default() -> Self {
        Self(Arc::new(Semaphore::new(HTTP_BODY_BYTES)))
    }
}

impl Room {
    /// Reads a body of at most `most` bytes, once there is room for it.
    pub async fn read<B>(&self, body: B, most: usize) -> Result<Held, ReadError>
    where
        B: Body<Data = Bytes, Error: Display> + Unpin,
    {
        let announced = usize::try_from(body.size_hint().lower()).unwrap_or(usize::MAX);
        let is_known = body.size_hint().exact().is_some();
        let room = if is_known { announced } else { most }.min(HTTP_BODY_BYTES);
        let reading = async {
            let place = match announced > most {
                true => None, // it is only passed over
                false => {
                    self.0.clone().acquire_many_owned(u32::try_from(room).unwrap_or(u32::MAX)).await.ok()
                }
            };
            Ok(Held { content: content(body, most).await?, _place: place })
        };
        timeout(HTTP_PATIENCE, reading).await.unwrap_or(Err(ReadError::Slow))
    }
}

/// Reads a body of at most `most` bytes. Of a longer one, the rest is read too, as a client that still sends would not
/// see the answer; but not endlessly.
async fn content<B>(mut body: B, most: usize) -> Result<Vec<u8>, ReadError>
where
    B: Body<Data = Bytes, Error: Display> + Unpin,
{
    let (mut content, mut length) = (Vec::new(), 0);
    while let Some(frame) = body.frame().await {
        let frame = frame.map_err(|error| ReadError::Broken(error.to_string()))?;
        let Ok(data) = frame.into_data() else { continue };
        length += data.len();
        if length <= most {
            content.extend_from_slice(&data);
        } else if length > MAX_PASSED_OVER_BYTES.max(most) {
            break;
        }
    }
    if length > most { Err(ReadError::TooLarge { most }) } else { Ok(content) }
}

#[cfg(test)]
mod tests {
    use futures::{StreamExt as _, channel::mpsc, stream};
    use http_body::Frame;
    use http_body_util::{Full, StreamBody};
    use tokio::task::JoinHandle;

    use super::*;

    const MIB: usize = 1 << 20;

    fn full(size: usize) -> Full<Bytes> {
        Full::new(vec![7; size].into())
    }

    /// Begins to read a body whose length is unknown; it ends with the sender.
    fn begin(
        room: &Room,
        most: usize,
    ) -> (mpsc::UnboundedSender<Bytes>, JoinHandle<Result<Held, ReadError>>) {
        let (sender, parts) = mpsc::unbounded();
        let body = StreamBody::new(parts.map(|part| Ok::<_, String>(Frame::data(part))));
        let room = room.clone();
        (sender, tokio::spawn(async move { room.read(Box::pin(body), most).await }))
    }

    #[tokio::test]
    async fn a_body_has_a_limit() {
        let room = Room::default();
        assert_eq!(room.read(full(9), 9).await.unwrap().len(), 9);
        assert!(matches!(room.read(full(10), 9).await, Err(ReadError::TooLarge { most: 9 })));
        let parts = stream::iter([Ok(Frame::data(Bytes::from_static(b"12345"))), Err("gone".to_owned())]);
        let Err(error) = room.read(StreamBody::new(parts), 9).await else { panic!("it broke") };
        assert_eq!(error.to_string(), "the request cannot be read: gone");
    }

    #[tokio::test(start_paused = true)]
    async fn bodies_share_the_room() {
        let room = Room::default();
        let first = room.read(full(40 * MIB), 64 * MIB).await.unwrap();
        let (sender, second) = begin(&room, 40 * MIB);
        sender.unbounded_send(Bytes::from_static(b"x")).unwrap();
        drop(sender);
        tokio::time::sleep(HTTP_PATIENCE / 2).await;
        assert!(!second.is_finished(), "there is no room for both");
        drop(first);
        assert_eq!(second.await.unwrap().unwrap().len(), 1);
    }

    #[tokio::test(start_paused = true)]
    async fn a_body_that_does_not_arrive_gives_its_room_back() {
        let room = Room::default();
        let (_sender, slow) = begin(&room, HTTP_BODY_BYTES);
        assert!(matches!(slow.await.unwrap(), Err(ReadError::Slow)));
        assert_eq!(room.read(full(HTTP_BODY_BYTES), HTTP_BODY_BYTES).await.unwrap().len(), HTTP_BODY_BYTES);
    }
}
