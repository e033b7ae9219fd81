//! Room in memory for what the messages of a call become, or for its answers.

use std::{fmt, sync::Arc};

use futures::future::BoxFuture;
use http::Extensions;
use tonic::Status;

/// Where a call gets room; in the extensions of a request, if the server bounds it.
#[derive(Clone)]
pub struct Room(Arc<Gives>);

type Gives = dyn Fn(Purpose, usize) -> BoxFuture<'static, Result<Held, Status>> + Send + Sync;

/// What room is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Purpose {
    /// What received messages become.
    Received,
    /// The answers.
    Answer,
}

/// Room that a call holds until this is dropped.
pub struct Held(Box<dyn FnMut(usize) + Send + Sync>);

impl Room {
    /// A source of room: `gives` grants a number of bytes, or refuses.
    pub fn new(
        gives: impl Fn(Purpose, usize) -> BoxFuture<'static, Result<Held, Status>> + Send + Sync + 'static,
    ) -> Self {
        Self(Arc::new(gives))
    }

    /// Returns where a request gets room; `None` if nothing bounds it.
    pub(in crate::rpc) fn of(extensions: &Extensions) -> Option<Self> {
        extensions.get::<Self>().cloned()
    }

    /// Takes room for `bytes`.
    pub(in crate::rpc) async fn take(
        room: Option<&Self>,
        purpose: Purpose,
        bytes: usize,
    ) -> Result<Held, Status> {
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
    /// Room that is given back when `shrink_to` is dropped; `shrink_to` gives back all but a number of bytes.
    pub fn new(shrink_to: impl FnMut(usize) + Send + Sync + 'static) -> Self {
        Self(Box::new(shrink_to))
    }

    /// Gives back all but `bytes`.
    pub(in crate::rpc) fn shrink_to(&mut self, bytes: usize) {
        (self.0)(bytes);
    }
}
