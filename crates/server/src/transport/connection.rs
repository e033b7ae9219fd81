//! A client's connection.

use std::{io, net::SocketAddr, sync::Arc};

use tokio::net::{TcpStream, UnixStream};

use super::{
    certificate,
    connections::Place,
    http::Arriving,
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

/// A connection that is ready: the stream of its bytes, its client, and what it keeps until it ends.
pub type Met<L> = (Box<dyn Stream>, Peer, (Place, L));

/// The connection of `socket` at `place`, which its own task makes ready, and its activity; `tls` encrypts connections from
/// the network. It keeps its place, and `load`, until the third value is dropped.
pub fn arriving<L: Send + 'static>(
    socket: Socket,
    tls: Option<Accepting>,
    place: Place,
    load: L,
) -> Arriving<impl Future<Output = io::Result<Met<L>>> + Send + 'static> {
    let activity = place.activity().clone();
    let met = async move {
        let (stream, peer) = meet(socket, tls, &place).await?;
        Ok((stream, peer, (place, load)))
    };
    (met, activity)
}

/// Makes the connection of `socket` at `place` ready on the current runtime: the stream of its bytes, after the TLS
/// handshake if `tls` encrypts connections from the network, and its client.
async fn meet(socket: Socket, tls: Option<Accepting>, place: &Place) -> io::Result<(Box<dyn Stream>, Peer)> {
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
