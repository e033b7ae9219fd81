//! Sockets, TLS, HTTP/2, and the connections of clients.

pub(super) mod activity;
pub(super) mod certificate;
pub(super) mod connection;
pub(super) mod connections;
pub(super) mod http;
pub(super) mod in_process;
pub(super) mod listen;
pub(super) mod shared;
pub(super) mod socket;
pub(super) mod systemd;
pub(super) mod tls;
pub(super) mod transport_errors;
