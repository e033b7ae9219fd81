//! A client's connection.

use std::{
    io,
    net::SocketAddr,
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering},
    },
};

use super::{
    activity::Activity,
    certificate,
    connections::Place,
    socket::{Detached, Socket, Stream},
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

/// Makes the connection of `socket` at `place` ready: the stream of its bytes, after the TLS handshake if `tls` encrypts
/// connections from the network, and its client.
pub async fn meet(
    socket: Socket,
    tls: Option<Accepting>,
    place: &Place,
) -> io::Result<(Box<dyn Stream>, Peer)> {
    socket.hasten()?;
    let peer = Peer::new(place.number(), socket.peer());
    match (socket, tls) {
        (Socket::Tcp(stream), Some(tls)) => {
            place.activity().end_with(tls.distrust);
            let stream = tls.acceptor.accept(stream).await?;
            let peer = match stream.get_ref().1.peer_certificates() {
                Some([own, ..]) => peer.showing(own),
                _ => peer,
            };
            Ok((Box::new(stream), peer))
        }
        (socket, _) => Ok((socket.into_stream(), peer)),
    }
}

/// A connection on its way to a worker: it counts as load of that worker until it ends.
pub struct Handed {
    socket: Detached,
    tls: Option<Accepting>,
    place: Place,
    load: Counted,
}

impl Handed {
    /// The connection of `socket` at `place`, counted by `load`; `tls` encrypts connections from the network.
    pub fn new(socket: Socket, tls: Option<Accepting>, place: Place, load: Counted) -> io::Result<Self> {
        Ok(Self { socket: socket.detach()?, tls, place, load })
    }

    /// Returns the connection's activity.
    pub fn activity(&self) -> &Arc<Activity> {
        self.place.activity()
    }

    /// Attaches the connection to the current runtime, and makes it ready. It keeps its place and counts as load until
    /// the third value is dropped.
    pub async fn take(self) -> io::Result<(Box<dyn Stream>, Peer, (Place, Counted))> {
        let (stream, peer) = meet(self.socket.attach()?, self.tls, &self.place).await?;
        Ok((stream, peer, (self.place, self.load)))
    }
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
