//! An in-memory connection that the server can tell apart from others.

use std::{
    io,
    pin::Pin,
    task::{Context, Poll},
};

use futures::{StreamExt, stream};
use tokio::io::{AsyncRead, AsyncWrite, DuplexStream, ReadBuf};
use tonic::transport::server::Connected;
use utterd::server::{Peer, Server};

/// Opens a connection of `peer` to `server`; returns the client's end.
pub fn open(server: &Server, peer: Peer) -> DuplexStream {
    let (near, far) = tokio::io::duplex(1 << 20);
    let incoming = stream::once(async { Ok(Pipe { far, peer }) }).chain(stream::pending());
    tokio::spawn(server.clone().serve_connections(incoming, std::future::pending()));
    near
}

/// The server's end.
struct Pipe {
    far: DuplexStream,
    peer: Peer,
}

impl Connected for Pipe {
    type ConnectInfo = Peer;

    fn connect_info(&self) -> Peer {
        self.peer.clone()
    }
}

impl AsyncRead for Pipe {
    fn poll_read(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        Pin::new(&mut self.far).poll_read(context, buffer)
    }
}

impl AsyncWrite for Pipe {
    fn poll_write(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        Pin::new(&mut self.far).poll_write(context, bytes)
    }

    fn poll_flush(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.far).poll_flush(context)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.far).poll_shutdown(context)
    }
}
