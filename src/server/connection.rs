//! A client's connection.

use std::{
    io,
    net::{SocketAddr, TcpStream as StdTcpStream},
    pin::Pin,
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering},
    },
    task::{Context, Poll},
};

use rustls::pki_types::CertificateDer;
use tokio::{
    io::{AsyncRead, AsyncWrite, ReadBuf},
    net::TcpStream,
};
use tonic::transport::server::Connected;

use super::{activity::Activity, connections::Place};

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
    /// The peer of a connection from `address`.
    pub fn new(connection: u64, address: Option<SocketAddr>) -> Self {
        Self { connection, address, certificates: None }
    }
}

/// A connection on its way to a worker: it counts as that one's load until it ends.
pub struct Handed {
    stream: StdTcpStream,
    peer: Peer,
    place: Place,
    load: Counted,
}

impl Handed {
    /// The connection of `stream` at `place`, counted by `load`.
    pub fn new(stream: TcpStream, place: Place, load: Counted) -> io::Result<Self> {
        stream.set_nodelay(true)?;
        let peer = Peer::new(place.number(), stream.peer_addr().ok());
        Ok(Self { stream: stream.into_std()?, peer, place, load })
    }

    /// What goes on on it.
    pub fn activity(&self) -> &Arc<Activity> {
        self.place.activity()
    }

    /// The connection, on the present runtime.
    pub async fn take(self) -> io::Result<Connection> {
        let stream = TcpStream::from_std(self.stream)?;
        Ok(Connection { stream, peer: self.peer, _place: self.place, _load: self.load })
    }
}

/// A client's connection.
pub struct Connection {
    stream: TcpStream,
    peer: Peer,
    _place: Place,
    _load: Counted,
}

/// One of a number that was counted up for it; counts down when it is dropped.
pub struct Counted(Arc<AtomicUsize>);

impl Counted {
    /// One more of `count`.
    pub fn new(count: &Arc<AtomicUsize>) -> Self {
        count.fetch_add(1, Ordering::Relaxed);
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
