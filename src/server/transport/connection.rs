//! A client's connection.

use std::{
    io,
    net::SocketAddr,
    pin::Pin,
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering},
    },
    task::{Context, Poll},
};

use tokio::{
    io::{AsyncRead, AsyncWrite, ReadBuf},
    net::{TcpStream, UnixStream},
};
use tokio_rustls::server::TlsStream;
use tonic::transport::server::Connected;

use super::{
    activity::Activity,
    certificate,
    connections::Place,
    socket::{Detached, Socket},
    tls::Accepting,
};

/// The client at the other end of a request's connection; in the request's extensions.
#[derive(Clone, Debug)]
pub struct Peer {
    /// The connection's number, unique in this process.
    pub connection: u64,
    /// The client's address; `None` on a Unix socket.
    pub address: Option<SocketAddr>,
    /// The names in the client's verified certificate; `None` without mutual TLS.
    pub names: Option<Arc<[String]>>,
}

impl Peer {
    /// The peer of a connection from `address`.
    pub fn new(connection: u64, address: Option<SocketAddr>) -> Self {
        Self { connection, address, names: None }
    }

    /// Adds the names of the client's certificate `der`.
    pub fn showing(self, der: &[u8]) -> Self {
        Self { names: Some(certificate::names(der).into()), ..self }
    }
}

/// A connection on its way to a worker: it counts as load of that worker until it ends.
pub struct Handed {
    socket: Detached,
    tls: Option<Accepting>,
    peer: Peer,
    place: Place,
    load: Counted,
}

impl Handed {
    /// The connection of `socket` at `place`, counted by `load`; `tls` encrypts connections from the network.
    pub fn new(socket: Socket, tls: Option<Accepting>, place: Place, load: Counted) -> io::Result<Self> {
        let socket = socket.detach()?;
        let peer = Peer::new(place.number(), socket.peer());
        Ok(Self { socket, tls, peer, place, load })
    }

    /// Returns the connection's activity.
    pub fn activity(&self) -> &Arc<Activity> {
        self.place.activity()
    }

    /// Attaches the connection to the current runtime, after the TLS handshake if there is one.
    pub async fn take(mut self) -> io::Result<Connection> {
        let stream = match (self.socket, self.tls) {
            (Detached::Unix(stream), _) => Stream::Unix(UnixStream::from_std(stream)?),
            (Detached::Tcp(stream), None) => Stream::Tcp(TcpStream::from_std(stream)?),
            (Detached::Tcp(stream), Some(tls)) => {
                self.place.activity().end_with(tls.distrust);
                let stream = tls.acceptor.accept(TcpStream::from_std(stream)?).await?;
                if let Some([own, ..]) = stream.get_ref().1.peer_certificates() {
                    self.peer = self.peer.showing(own);
                }
                Stream::Tls(Box::new(stream))
            }
        };
        Ok(Connection { stream, peer: self.peer, _place: self.place, _load: self.load })
    }
}

/// A client's connection.
pub struct Connection {
    stream: Stream,
    peer: Peer,
    _place: Place,
    _load: Counted,
}

enum Stream {
    Tcp(TcpStream),
    Unix(UnixStream),
    Tls(Box<TlsStream<TcpStream>>),
}

/// One unit of a count; subtracted on drop.
pub struct Counted(Arc<AtomicUsize>);

impl Counted {
    /// Adds one to `count`.
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

/// Does the same for each kind of stream.
macro_rules! each {
    ($connection:ident, $stream:ident => $what:expr) => {
        match &mut $connection.get_mut().stream {
            Stream::Tcp($stream) => $what,
            Stream::Unix($stream) => $what,
            Stream::Tls($stream) => $what,
        }
    };
}

impl AsyncRead for Connection {
    fn poll_read(
        self: Pin<&mut Self>,
        context: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        each!(self, stream => Pin::new(stream).poll_read(context, buffer))
    }
}

impl AsyncWrite for Connection {
    fn poll_write(self: Pin<&mut Self>, context: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
        each!(self, stream => Pin::new(stream).poll_write(context, bytes))
    }

    fn poll_flush(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        each!(self, stream => Pin::new(stream).poll_flush(context))
    }

    fn poll_shutdown(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        each!(self, stream => Pin::new(stream).poll_shutdown(context))
    }

    fn poll_write_vectored(
        self: Pin<&mut Self>,
        context: &mut Context<'_>,
        buffers: &[io::IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        each!(self, stream => Pin::new(stream).poll_write_vectored(context, buffers))
    }

    fn is_write_vectored(&self) -> bool {
        match &self.stream {
            Stream::Tcp(stream) => stream.is_write_vectored(),
            Stream::Unix(stream) => stream.is_write_vectored(),
            Stream::Tls(stream) => stream.is_write_vectored(),
        }
    }
}
