//! Room in memory for what a call makes of its messages, or for its answers.

use std::{fmt, sync::Arc};

use futures::future::BoxFuture;
use http::Extensions;
use tonic::Status;

/// Where a call gets room: in the extensions of a request of a server that bounds it.
#[derive(Clone)]
pub struct Room(Arc<Gives>);

type Gives = dyn Fn(Purpose, usize) -> BoxFuture<'static, Result<Held, Status>> + Send + Sync;

/// What room is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Purpose {
    /// What messages become that are received.
    Received,
    /// What is answered.
    Answer,
}

/// Room that a call has until this is dropped.
pub struct Held(Box<dyn FnMut(usize) + Send + Sync>);

impl Room {
    /// `gives` gives room for so many bytes, or refuses.
    pub fn new(
        gives: impl Fn(Purpose, usize) -> BoxFuture<'static, Result<Held, Status>> + Send + Sync + 'static,
    ) -> Self {
        Self(Arc::new(gives))
    }

    /// The room of a request; none where nothing bounds it.
    pub(super) fn of(extensions: &Extensions) -> Option<Self> {
        extensions.get::<Self>().cloned()
    }

    /// Room for so many bytes.
    pub(super) async fn take(room: Option<&Self>, purpose: Purpose, bytes: usize) -> Result<Held, Status> {
        match room {
            Some(room) => (room.0)(purpose, bytes).await,
            None => Ok(Held::new(|_| {})),
        }
    }
}

impl fmt::Debug for Room {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Room")
    }
}

impl Held {
    /// Room that `shrink_to` gives back beyond so many bytes, and all of which goes with it.
    pub fn new(shrink_to: impl FnMut(usize) + Send + Sync + 'static) -> Self {
        Self(Box::new(shrink_to))
    }

    /// Gives back what is beyond so many bytes.
    pub(super) fn shrink_to(&mut self, bytes: usize) {
        (self.0)(bytes);
    }
}
