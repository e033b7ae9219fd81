//! A client's connection.

use std::{
    io,
    net::SocketAddr,
    pin::Pin,
    sync::{
        Arc,
        atomic::{AtomicU64, AtomicUsize, Ordering},
    },
    task::{Context, Poll},
};

use rustls::pki_types::CertificateDer;
use tokio::{
    io::{AsyncRead, AsyncWrite, ReadBuf},
    net::TcpStream,
};
use tonic::transport::server::Connected;

/// Whose connection a request came on, in the request's extensions.
#[derive(Clone, Debug)]
pub struct Peer {
    /// The connection's number: no other of this process has it.
    pub connection: u64,
    /// Where it comes from; `None` on a Unix socket.
    pub address: Option<SocketAddr>,
    /// The chain that the client showed and that was verified, its own certificate first; `None` without mutual
    /// TLS.
    pub certificates: Option<Arc<[CertificateDer<'static>]>>,
}

impl Peer {
    /// The peer of a new connection.
    pub fn new(address: Option<SocketAddr>) -> Self {
        static CONNECTIONS: AtomicU64 = AtomicU64::new(0);
        Self { connection: CONNECTIONS.fetch_add(1, Ordering::Relaxed), address, certificates: None }
    }
}

/// A connection that counts as its worker's load until it ends.
pub struct Connection {
    stream: TcpStream,
    peer: Peer,
    _load: Counted,
}

impl Connection {
    /// The connection of `stream`, counted by `load`.
    pub fn new(stream: TcpStream, load: Counted) -> Self {
        let peer = Peer::new(stream.peer_addr().ok());
        Self { stream, peer, _load: load }
    }
}

/// One of a number that was counted up for it; counts down when it is dropped.
pub struct Counted(Arc<AtomicUsize>);

impl Counted {
    /// One of `count`.
    pub fn of(count: &Arc<AtomicUsize>) -> Self {
        Self(count.clone())
    }
}

impl Drop for Counted {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::Relaxed);
    }
}

impl Connected for Connection {
    type ConnectInfo = Peer;

    fn connect_info(&self) -> Peer {
        self.peer.clone()
    }
}

impl AsyncRead for Connection {
    fn poll_read(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_read(context, buffer)
    }
}

impl AsyncWrite for Connection {
    fn poll_write(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        Pin::new(&mut self.stream).poll_write(context, bytes)
    }

    fn poll_flush(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_flush(context)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_shutdown(context)
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        buffers: &[io::IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        Pin::new(&mut self.stream).poll_write_vectored(context, buffers)
    }

    fn is_write_vectored(&self) -> bool {
        self.stream.is_write_vectored()
    }
}
