//! A client's connection.

use std::{io, net::SocketAddr, sync::Arc};

use tokio::net::{TcpStream, UnixStream};

use super::{
    activity::Activity,
    certificate,
    connections::Place,
    socket::{Socket, Stream},
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

/// Makes the connection of `socket` at `place` ready on the current runtime: the stream of its bytes, after the TLS
/// handshake if `tls` encrypts connections from the network, and its client.
pub async fn meet(
    socket: Socket,
    tls: Option<Accepting>,
    place: &Place,
) -> io::Result<(Box<dyn Stream>, Peer)> {
    let stream = match socket {
        Socket::Unix(stream) => {
            return Ok((Box::new(UnixStream::from_std(stream)?), Peer::new(place.number(), None)));
        }
        Socket::Tcp(stream) => TcpStream::from_std(stream)?,
    };
    // each small write is sent at once, without waiting for the acknowledgement of the one before
    stream.set_nodelay(true)?;
    let peer = Peer::new(place.number(), stream.peer_addr().ok());
    let Some(tls) = tls else { return Ok((Box::new(stream), peer)) };
    place.activity().end_with(tls.distrust);
    let stream = tls.acceptor.accept(stream).await?;
    let peer = match stream.get_ref().1.peer_certificates() {
        Some([own, ..]) => peer.showing(own),
        _ => peer,
    };
    Ok((Box::new(stream), peer))
}

/// The load of a worker: each of its connections holds one.
pub type Load = Arc<()>;

/// A connection on its way to a worker: it counts as load of that worker until it ends.
pub struct Handed {
    socket: Socket,
    tls: Option<Accepting>,
    place: Place,
    load: Load,
}

impl Handed {
    /// The connection of `socket` at `place`, which holds `load`; `tls` encrypts connections from the network.
    pub fn new(socket: Socket, tls: Option<Accepting>, place: Place, load: Load) -> Self {
        Self { socket, tls, place, load }
    }

    /// Returns the connection's activity.
    pub fn activity(&self) -> &Arc<Activity> {
        self.place.activity()
    }

    /// Makes the connection ready on the current runtime. It keeps its place and counts as load until the third value is
    /// dropped.
    pub async fn take(self) -> io::Result<(Box<dyn Stream>, Peer, (Place, Load))> {
        let (stream, peer) = meet(self.socket, self.tls, &self.place).await?;
        Ok((stream, peer, (self.place, self.load)))
    }
}
