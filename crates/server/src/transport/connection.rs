//! A client's connection.

use std::{any::Any, future::ready, io, net::SocketAddr, sync::Arc};

use futures::{future::BoxFuture, stream::unfold};
use tokio::net::{TcpStream, UnixStream};
use tonic::transport::server::Connected;

use super::{
    activity::Activity,
    certificate,
    connections::{Connections, Place},
    socket::{Listener, Socket, Stream},
    tls::{Accepting, Tls},
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

/// A connection that its own task makes ready.
pub struct Arriving {
    /// Makes it ready.
    pub ready: BoxFuture<'static, io::Result<Ready>>,
    /// Its activity.
    pub activity: Arc<Activity>,
}

/// A connection that is ready.
pub struct Ready {
    /// Its bytes.
    pub stream: Box<dyn Stream>,
    /// Its client, if that is known.
    pub peer: Option<Peer>,
    /// What is kept until it ends.
    pub kept: Box<dyn Any + Send>,
}

impl Arriving {
    /// The connection of `socket` at `place`; `tls` encrypts connections from the network. It keeps its place, and `load`,
    /// until it ends.
    pub fn new(socket: Socket, tls: Option<Accepting>, place: Place, load: Arc<()>) -> Self {
        let activity = place.activity().clone();
        let ready = async move {
            let (stream, peer) = meet(socket, tls, &place).await?;
            Ok(Ready { stream, peer: Some(peer), kept: Box::new((place, load)) })
        };
        Self { ready: Box::pin(ready), activity }
    }

    /// A connection within this process. It tells its client if its `ConnectInfo` is a [`Peer`].
    pub fn near<C: Stream + Connected + 'static>(connection: C) -> Self {
        let told: &dyn Any = &connection.connect_info();
        let peer = told.downcast_ref().cloned();
        let met = Ready { stream: Box::new(connection), peer, kept: Box::new(()) };
        Self { ready: Box::pin(ready(Ok(met))), activity: Activity::new() }
    }
}

/// Returns the connections to `listener` that `connections` have room for; `tls` encrypts those of plain HTTP from the
/// network.
pub fn accepted(
    connections: Arc<Connections>,
    listener: Arc<Listener>,
    tls: Option<Arc<Tls>>,
) -> impl futures::Stream<Item = Arriving> + Send {
    unfold((connections, listener, tls), |(connections, listener, tls)| async {
        let (socket, place) = connections.accept(&listener).await;
        let accepting = tls.as_ref().map(|tls| tls.http_acceptor());
        Some((Arriving::new(socket, accepting, place, Arc::default()), (connections, listener, tls)))
    })
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
