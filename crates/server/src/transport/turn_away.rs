//! Turns away connections that there is no room for: each gets the reason and is closed.
//!
//! Over HTTP/2, they get the reason and no SETTINGS. After SETTINGS, gRPC's clients count a connection as established,
//! and after a GOAWAY they connect again at once. Without SETTINGS, the connection has failed, and they wait for
//! longer each time.

use std::{sync::Arc, time::Duration};

use tokio::{
    io::{AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt, copy, sink},
    sync::Semaphore,
    time::{Instant, timeout},
};

use utterd_domain::limits::MAX_REFUSED_CONNECTIONS;

/// How long a client has to read the reason.
const FAREWELL: Duration = Duration::from_secs(1);
/// How much is read from a client that keeps sending: unread input would make the system drop the reason.
const MAX_READ: u64 = 64 << 10;

/// Refuses connections.
pub struct TurnAway {
    farewell: Arc<[u8]>,
    room: Arc<Semaphore>,
    refused: usize,
    told: Option<Instant>,
}

impl TurnAway {
    /// Refuses connections of gRPC beyond `max`.
    pub fn of_grpc(max: usize) -> Self {
        let text = format!("all {max} connections (max_connections) are busy with calls; try again later");
        Self::with(goaway(&text))
    }

    /// Refuses connections of plain HTTP beyond `max`.
    pub fn of_http(max: usize) -> Self {
        let text = format!("all {max} connections are busy with requests; try again later\n");
        let head = "HTTP/1.1 503 Service Unavailable\r\nretry-after: 1\r\nconnection: close";
        let length = text.len();
        Self::with(format!("{head}\r\ncontent-type: text/plain\r\ncontent-length: {length}\r\n\r\n{text}"))
    }

    fn with(farewell: impl Into<Vec<u8>>) -> Self {
        let room = Arc::new(Semaphore::new(MAX_REFUSED_CONNECTIONS));
        Self { farewell: farewell.into().into(), room, refused: 0, told: None }
    }

    /// Tells the client of `connection` that there is no room, unless too many others are being refused.
    pub fn refuse(&mut self, connection: impl AsyncRead + AsyncWrite + Unpin + Send + 'static) {
        self.count();
        if let Ok(permit) = self.room.clone().try_acquire_owned() {
            let farewell = self.farewell.clone();
            tokio::spawn(async move {
                let _ = timeout(FAREWELL, tell(connection, &farewell)).await;
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

async fn tell(mut connection: impl AsyncRead + AsyncWrite + Unpin, farewell: &[u8]) -> std::io::Result<()> {
    connection.write_all(farewell).await?;
    connection.shutdown().await?;
    copy(&mut connection.take(MAX_READ), &mut sink()).await?;
    Ok(())
}

/// A GOAWAY frame with `text` (RFC 9113, 6.8).
fn goaway(text: &str) -> Vec<u8> {
    const GOAWAY: u8 = 7;
    const ENHANCE_YOUR_CALM: u32 = 11;
    let mut said = vec![0; 4]; // no stream was accepted
    said.extend(ENHANCE_YOUR_CALM.to_be_bytes());
    said.extend(text.as_bytes());
    let [_, length @ ..] = (said.len() as u32).to_be_bytes();
    let mut frame = length.to_vec();
    frame.extend([GOAWAY, 0, 0, 0, 0, 0]); // no flags; stream 0, the connection itself
    frame.extend(said);
    frame
}

#[cfg(test)]
mod tests {
    use tokio::io::duplex;

    use super::*;

    /// What a client is sent.
    async fn told(mut turn_away: TurnAway) -> Vec<u8> {
        let (mut near, far) = duplex(1 << 10);
        turn_away.refuse(far);
        let mut told = Vec::new();
        near.read_to_end(&mut told).await.unwrap();
        told
    }

    #[tokio::test]
    async fn a_client_is_told_why() {
        let (near, far) = duplex(1 << 10);
        TurnAway::of_grpc(7).refuse(far);
        let (_client, connection) = h2::client::handshake(near).await.unwrap();
        let refused = connection.await.unwrap_err();
        assert_eq!(refused.reason(), Some(h2::Reason::ENHANCE_YOUR_CALM));
        assert!(refused.to_string().contains("max_connections"), "{refused}");
        let http = String::from_utf8(told(TurnAway::of_http(7)).await).unwrap();
        assert!(http.starts_with("HTTP/1.1 503 ") && http.contains("\r\n\r\nall 7 connections"), "{http}");
    }

    /// A client of gRPC that is sent SETTINGS takes the connection for established, and does not wait before the next.
    #[tokio::test]
    async fn a_refused_connection_is_not_established() {
        const SETTINGS: u8 = 4;
        let mut told = told(TurnAway::of_grpc(7)).await;
        while let [high, middle, low, kind, ..] = told[..] {
            assert_ne!(kind, SETTINGS);
            told.drain(..9 + u32::from_be_bytes([0, high, middle, low]) as usize);
        }
        assert!(told.is_empty(), "whole frames");
    }
}
