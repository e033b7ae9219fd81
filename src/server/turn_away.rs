//! Turns away connections that there is no room for: each gets the reason and is closed.

use std::{sync::Arc, time::Duration};

use tokio::{
    io::{AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt, copy, sink},
    sync::Semaphore,
    time::{Instant, timeout},
};

use crate::domain::limits::MAX_REFUSED_CONNECTIONS;

/// How long a client has to read the reason.
const FAREWELL: Duration = Duration::from_secs(1);
/// How much is read from a client that keeps sending: unread input would make the system drop the reason.
const MAX_READ: u64 = 64 << 10;

/// Refuses connections.
pub struct TurnAway {
    goaway: Arc<[u8]>,
    room: Arc<Semaphore>,
    refused: usize,
    told: Option<Instant>,
}

impl TurnAway {
    /// Refuses connections beyond `max`.
    pub fn new(max: usize) -> Self {
        let text = format!("all {max} connections (max_connections) are in use; try again later");
        let room = Arc::new(Semaphore::new(MAX_REFUSED_CONNECTIONS));
        Self { goaway: goaway(&text).into(), room, refused: 0, told: None }
    }

    /// Tells the client of `connection` that there is no room, unless many others are being told.
    pub fn refuse(&mut self, connection: impl AsyncRead + AsyncWrite + Unpin + Send + 'static) {
        self.count();
        if let Ok(permit) = self.room.clone().try_acquire_owned() {
            let goaway = self.goaway.clone();
            tokio::spawn(async move {
                let _ = timeout(FAREWELL, tell(connection, &goaway)).await;
                drop(permit);
            });
        }
    }

    /// Counts a refused connection. The number is logged at most once a second.
    pub fn count(&mut self) {
        self.refused += 1;
        if self.told.is_none_or(|told| told.elapsed() >= Duration::from_secs(1)) {
            tracing::warn!(refused = self.refused, "refused connections: all open ones are busy with calls");
            (self.refused, self.told) = (0, Some(Instant::now()));
        }
    }
}

async fn tell(mut connection: impl AsyncRead + AsyncWrite + Unpin, goaway: &[u8]) -> std::io::Result<()> {
    connection.write_all(goaway).await?;
    connection.shutdown().await?;
    copy(&mut connection.take(MAX_READ), &mut sink()).await?;
    Ok(())
}

/// The frames of a server that accepts no calls: SETTINGS, and GOAWAY with `text` (RFC 9113, 6.5 and 6.8).
fn goaway(text: &str) -> Vec<u8> {
    const SETTINGS: u8 = 4;
    const GOAWAY: u8 = 7;
    const ENHANCE_YOUR_CALM: u32 = 11;
    let mut said = vec![0; 4]; // no stream was accepted
    said.extend(ENHANCE_YOUR_CALM.to_be_bytes());
    said.extend(text.as_bytes());
    [frame(SETTINGS, &[]), frame(GOAWAY, &said)].concat()
}

fn frame(kind: u8, payload: &[u8]) -> Vec<u8> {
    let [_, length @ ..] = (payload.len() as u32).to_be_bytes();
    let mut frame = length.to_vec();
    frame.extend([kind, 0, 0, 0, 0, 0]); // no flags; stream 0, the connection itself
    frame.extend(payload);
    frame
}

#[cfg(test)]
mod tests {
    use tokio::io::duplex;

    use super::*;

    #[tokio::test]
    async fn a_client_is_told_why() {
        let (near, far) = duplex(1 << 10);
        TurnAway::new(7).refuse(far);
        let (_client, connection) = h2::client::handshake(near).await.unwrap();
        let refused = connection.await.unwrap_err();
        assert_eq!(refused.reason(), Some(h2::Reason::ENHANCE_YOUR_CALM));
        assert!(refused.to_string().contains("max_connections"), "{refused}");
    }
}
