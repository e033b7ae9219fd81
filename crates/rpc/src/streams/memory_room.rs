//! Room in memory for the received messages of a call, or for its answers.

use std::{fmt, sync::Arc};

use futures::future::BoxFuture;
use http::Extensions;
use tonic::Status;

/// A source of room for a call; in the extensions of a request if the server bounds the memory.
#[derive(Clone)]
pub struct Room(Arc<Gives>);

type Gives = dyn Fn(Purpose, usize) -> BoxFuture<'static, Result<Held, Status>> + Send + Sync;

/// The purpose of room.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Purpose {
    /// To hold the decoded form of received messages.
    Received,
    /// To hold the answers.
    Answer,
}

/// Room that a call holds until the value is dropped.
pub struct Held(Box<dyn FnMut(usize) + Send + Sync>);

impl Room {
    /// Makes a source of room: `gives` grants a number of bytes, or refuses.
    pub fn new(
        gives: impl Fn(Purpose, usize) -> BoxFuture<'static, Result<Held, Status>> + Send + Sync + 'static,
    ) -> Self {
        Self(Arc::new(gives))
    }

    /// Returns the source of room for a request; `None` if nothing bounds its memory.
    pub(crate) fn of(extensions: &Extensions) -> Option<Self> {
        extensions.get::<Self>().cloned()
    }

    /// Takes room for `bytes`.
    pub(crate) async fn take(room: Option<&Self>, purpose: Purpose, bytes: usize) -> Result<Held, Status> {
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
    /// Makes room that is given back when `shrink_to` is dropped; `shrink_to` gives back all but a number of
    /// bytes.
    pub fn new(shrink_to: impl FnMut(usize) + Send + Sync + 'static) -> Self {
        Self(Box::new(shrink_to))
    }

    /// Gives back all but `bytes`.
    pub(crate) fn shrink_to(&mut self, bytes: usize) {
        (self.0)(bytes);
    }
}
