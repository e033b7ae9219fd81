//! How connections end: by themselves, because they have to make room, or with the server.

use std::{pin::pin, sync::Arc, time::Duration};

use hyper_util::server::graceful::GracefulConnection;
use tokio::{
    io::{AsyncRead, AsyncWrite},
    sync::watch,
    time::timeout,
};
use tokio_util::io::InspectReader;

use super::activity::{Activity, End};
use utterd_domain::limits::{EVICTION_GRACE, IDLE_GRACE};

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

/// Makes a connection note in `activity` when its client has begun to use it.
pub fn greeted<C: AsyncRead + AsyncWrite>(
    connection: C,
    activity: Arc<Activity>,
) -> InspectReader<C, impl FnMut(&[u8])> {
    let mut read = 0;
    InspectReader::new(connection, move |bytes| {
        if read < GREETING_BYTES {
            read += bytes.len();
            if read >= GREETING_BYTES {
                activity.greet();
            }
        }
    })
}
