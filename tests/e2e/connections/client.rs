//! A client of a server.

use tonic::transport::{Channel, Endpoint};

use crate::support::binary::Server;

/// A connection to `server`.
pub async fn channel(server: &Server) -> Channel {
    let endpoint = Endpoint::from_shared(format!("http://{}", server.address)).expect("an address");
    endpoint.connect().await.expect("it is served")
}
