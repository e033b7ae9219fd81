//! How connections end: by themselves, because they have to make room, or with the server.

use std::{
    io,
    pin::{Pin, pin},
    sync::Arc,
    task::{Context, Poll},
    time::Duration,
};

use hyper_util::server::graceful::GracefulConnection;
use tokio::{
    io::{AsyncRead, AsyncWrite, ReadBuf},
    sync::watch,
    time::timeout,
};

use super::activity::{Activity, End};
use crate::domain::limits::{EVICTION_GRACE, IDLE_GRACE};

/// The bytes that a client sends before its connection counts as used: the preface of HTTP/2 (RFC 9113, 3.4), which is
/// shorter than the head of any request of HTTP/1.
const GREETING_BYTES: usize = 24;

/// Serves a connection until it ends by itself, has to end, or `stop` is true.
pub async fn until_end(
    served: impl GracefulConnection<Error = hyper::Error>,
    activity: &Activity,
    mut stop: watch::Receiver<bool>,
) {
    let mut served = pin!(served);
    let grace = tokio::select! {
        biased;
        result = served.as_mut() => return tell(result),
        grace = grace(activity, &mut stop) => grace,
    };
    served.as_mut().graceful_shutdown();
    match timeout(grace, served).await {
        Ok(result) => tell(result),
        Err(_) => tracing::debug!("closed a connection that did not end by itself"),
    }
}

/// Waits until the connection has to end, and returns how long it has to finish.
async fn grace(activity: &Activity, stop: &mut watch::Receiver<bool>) -> Duration {
    tokio::select! {
        end = activity.end() => {
            tracing::debug!(?end, "closing a connection");
            match end {
                End::Silent | End::Unread => Duration::ZERO,
                End::Idle | End::Untrusted => IDLE_GRACE,
                End::Evicted => EVICTION_GRACE,
            }
        }
        // the code that stops the server decides how long to wait
        _ = stop.wait_for(|stop| *stop) => Duration::MAX,
    }
}

fn tell(result: hyper::Result<()>) {
    if let Err(error) = result {
        tracing::debug!(%error, "a connection failed");
    }
}

/// A connection that notes when its client has begun to use it.
pub struct Greeted<C> {
    connection: C,
    /// The bytes read so far; not counted beyond the greeting.
    read: usize,
    activity: Arc<Activity>,
}

impl<C> Greeted<C> {
    /// A new connection with this activity.
    pub fn new(connection: C, activity: Arc<Activity>) -> Self {
        Self { connection, read: 0, activity }
    }
}

impl<C: AsyncRead + Unpin> AsyncRead for Greeted<C> {
    fn poll_read(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        let before = buffer.filled().len();
        let result = Pin::new(&mut self.connection).poll_read(context, buffer);
        if self.read < GREETING_BYTES {
            self.read += buffer.filled().len().saturating_sub(before);
            if self.read >= GREETING_BYTES {
                self.activity.greet();
            }
        }
        result
    }
}

impl<C: AsyncWrite + Unpin> AsyncWrite for Greeted<C> {
    fn poll_write(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        Pin::new(&mut self.connection).poll_write(context, bytes)
    }

    fn poll_flush(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.connection).poll_flush(context)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.connection).poll_shutdown(context)
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        buffers: &[io::IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        Pin::new(&mut self.connection).poll_write_vectored(context, buffers)
    }

    fn is_write_vectored(&self) -> bool {
        self.connection.is_write_vectored()
    }
}
