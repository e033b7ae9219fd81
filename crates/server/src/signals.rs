//! The signals that stop a server or make it read its files again.

use std::io;

use tokio::signal::unix::{Signal, SignalKind, signal};

/// The signals of a server, from when this is made: none that arrives later is missed.
pub struct Signals {
    terminate: Signal,
    interrupt: Signal,
    hang_up: Signal,
}

/// What a signal asks for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Asked {
    /// SIGTERM or SIGINT: to stop.
    Stop,
    /// SIGHUP: to read files again.
    Reload,
}

impl Signals {
    /// Takes the signals over from the operating system, which would end the process.
    pub fn new() -> io::Result<Self> {
        Ok(Self {
            terminate: signal(SignalKind::terminate())?,
            interrupt: signal(SignalKind::interrupt())?,
            hang_up: signal(SignalKind::hangup())?,
        })
    }

    /// Waits for the next signal.
    pub async fn next(&mut self) -> Asked {
        tokio::select! {
            _ = self.terminate.recv() => Asked::Stop,
            _ = self.interrupt.recv() => Asked::Stop,
            _ = self.hang_up.recv() => Asked::Reload,
        }
    }

    /// Waits until the server is asked to stop.
    pub async fn stop(&mut self) {
        while self.next().await != Asked::Stop {}
    }
}
