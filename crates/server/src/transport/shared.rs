//! A server on files that several processes share: the process that has the store open serves the others.
//!
//! It does so on a Unix socket in the store's directory, which only its user can open. Whoever binds the socket opens the
//! store; everyone else connects, and the system holds their connections until the store is open. When the process with
//! the store ends, by itself or killed, the connections to it break, and another process takes its place with the next
//! call.

use std::{io, path::PathBuf, sync::Arc, time::Duration};

use tokio::{
    net::UnixStream,
    sync::Mutex,
    time::{Instant, sleep},
};

use super::{
    connection::accepted,
    connections::Connections,
    in_process::InProcess,
    socket::{Listener, Stream},
};
use crate::{Result, ServeError};
use utterd_config::{Backend, Listen, Settings, socket_path_fault};
use utterd_store::durable::{Directory, OpenError, SOCKET};

/// Who can connect: the user of the process.
const OWN: u32 = 0o600;
/// How long the system may take to release the store of a process that was killed, whose socket it has closed.
const RELEASE: Duration = Duration::from_secs(1);

/// A server on files, in this process or in another one; or one with another store, in this process.
pub struct Shared {
    settings: Settings,
    state: Mutex<State>,
}

enum State {
    /// Another process has the files open, or none.
    Elsewhere,
    /// This one has; it serves the others through the door.
    Here(Box<InProcess>, Option<Arc<Listener>>),
    /// This process is ending.
    Ended,
}

/// What the attempt to bind the socket led to.
enum Bound {
    /// It is this process that opens the store.
    Door(Option<Arc<Listener>>),
    /// Another process is there.
    Taken,
}

impl Shared {
    /// Joins the server on the files that `settings` name, or starts it.
    pub async fn start(settings: &Settings) -> Result<Arc<Self>> {
        let state = match settings.backend {
            Backend::Durable(_) => State::Elsewhere,
            Backend::Memory | Backend::Postgres => {
                State::Here(InProcess::start(settings).await?.into(), None)
            }
        };
        let shared = Self { settings: settings.clone(), state: Mutex::new(state) };
        shared.reach().await?;
        Ok(Arc::new(shared))
    }

    /// Connects a caller in this process. Takes the place of the process with the store if that has ended.
    pub async fn connect(&self) -> io::Result<Box<dyn Stream>> {
        self.reach().await.map_err(|error| {
            tracing::warn!(%error, "could not reach the store");
            io::Error::other(error)
        })
    }

    async fn reach(&self) -> Result<Box<dyn Stream>> {
        let mut state = self.state.lock().await;
        loop {
            match &*state {
                State::Here(server, _) => return near(server),
                State::Ended => return Err(ServeError::Ending),
                State::Elsewhere => {}
            }
            if let Ok(stream) = UnixStream::connect(self.socket()).await {
                return Ok(Box::new(stream));
            }
            if let Bound::Door(door) = self.bind().await? {
                let mut server = self.open().await?;
                if let Some(door) = &door {
                    server.serve_also(accepted(Connections::new(usize::MAX), door.clone(), None));
                }
                *state = State::Here(Box::new(server), door);
            }
        }
    }

    fn socket(&self) -> PathBuf {
        self.settings.data_dir.join(SOCKET)
    }

    /// Binds the socket. Where there can be none, the process that opens the store serves no others.
    async fn bind(&self) -> Result<Bound> {
        Directory::create(&self.settings.data_dir)?;
        let unserved = |reason: &dyn std::fmt::Display| {
            tracing::warn!("other processes cannot join this one on {}: {reason}", self.socket().display());
            Bound::Door(None)
        };
        if let Some(fault) = std::path::absolute(self.socket()).ok().and_then(|path| socket_path_fault(&path))
        {
            return Ok(unserved(&fault));
        }
        match Listener::bind(&Listen::Unix(self.socket()), OWN).await {
            Ok(door) => Ok(Bound::Door(Some(Arc::new(door)))),
            Err(error) if error.kind() == io::ErrorKind::AddrInUse => Ok(Bound::Taken),
            Err(error) => Ok(unserved(&error)),
        }
    }

    /// Opens the store.
    async fn open(&self) -> Result<InProcess> {
        let deadline = Instant::now() + RELEASE;
        loop {
            match InProcess::start(&self.settings).await {
                Err(ServeError::Store(OpenError::InUse { .. })) if Instant::now() < deadline => {
                    sleep(RELEASE / 100).await;
                }
                opened => return opened,
            }
        }
    }

    /// Stops the server, if it is in this process, after answering the calls in flight. Whoever connects meanwhile waits
    /// until the store is closed, and then opens it.
    pub async fn end(&self) {
        let state = std::mem::replace(&mut *self.state.lock().await, State::Ended);
        if let State::Here(server, door) = state {
            server.end().await;
            drop(door);
        }
    }
}

fn near(server: &InProcess) -> Result<Box<dyn Stream>> {
    let connected = server.connector().connect();
    connected.map(|stream| Box::new(stream) as Box<dyn Stream>).map_err(|_| ServeError::Ending)
}
