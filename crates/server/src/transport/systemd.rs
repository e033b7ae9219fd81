//! What systemd passes to the server, and hears from it.

use std::{io, net::TcpListener, os::unix::net::UnixListener};

use listenfd::ListenFd;
use sd_notify::NotifyState;

/// A listening socket that was passed to the process (socket activation).
#[derive(Debug)]
pub enum Passed {
    /// A port.
    Tcp(TcpListener),
    /// A Unix socket.
    Unix(UnixListener),
}

impl Passed {
    /// Takes the socket that the process was started for, if there is one: `LISTEN_FDS` and `LISTEN_PID` say so, as
    /// described in sd_listen_fds(3). They are removed from the environment, so no other thread may run yet.
    pub fn take() -> io::Result<Option<Self>> {
        let mut passed = ListenFd::from_env();
        match passed.len() {
            0 => return Ok(None),
            1 => {}
            sockets => return Err(refused(format!("{sockets} sockets were passed; accepted: one"))),
        }
        if let Ok(Some(listener)) = passed.take_tcp_listener(0) {
            return Ok(Some(Self::Tcp(listener)));
        }
        match passed.take_unix_listener(0) {
            Ok(Some(listener)) => Ok(Some(Self::Unix(listener))),
            _ => Err(refused("what was passed is not a stream socket".to_owned())),
        }
    }
}

fn refused(problem: String) -> io::Error {
    io::Error::new(io::ErrorKind::InvalidInput, problem)
}

/// Says that the server accepts calls at `address`.
pub fn ready(address: &str) {
    tell(&[NotifyState::Ready, NotifyState::Status(&format!("serving on {address}"))]);
}

/// Says that the server finishes the calls in flight, and then ends.
pub fn stopping() {
    tell(&[NotifyState::Stopping, NotifyState::Status("finishing the calls in flight")]);
}

/// Tells whoever started the server, if it listens (`NOTIFY_SOCKET`).
fn tell(states: &[NotifyState<'_>]) {
    if let Err(error) = sd_notify::notify(states) {
        tracing::warn!(%error, "could not notify the service manager (NOTIFY_SOCKET)");
    }
}
