//! Where a server listens.

use std::{
    fmt,
    net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr},
    os::unix::net::SocketAddr as UnixAddr,
    path::{Path, PathBuf},
};

/// The longest path of a Unix socket, in bytes: what `sockaddr_un` holds, without the terminating zero.
const MAX_SOCKET_PATH_BYTES: usize =
    if cfg!(any(target_os = "linux", target_os = "android")) { 107 } else { 103 };

/// Where a server listens.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Listen {
    /// On a network address; port 0 picks a free port.
    Tcp(SocketAddr),
    /// On a Unix socket.
    Unix(PathBuf),
}

impl Listen {
    /// Parses what a person writes, such as `127.0.0.1:50051`, `unix:/run/utterd.sock` or, in gRPC's other form,
    /// `unix:///run/utterd.sock`. A path that does not begin with `/` is relative to the process's directory.
    pub fn parse(text: &str) -> Option<Self> {
        match text.strip_prefix("unix:") {
            Some(path) => {
                let path = path.strip_prefix("//").unwrap_or(path);
                let is_path = !path.is_empty() && !path.contains(['\0', '\u{fffd}']);
                is_path.then(|| Self::Unix(path.into()))
            }
            None => text.parse().ok().map(Self::Tcp),
        }
    }

    /// Whether only programs on this machine can reach it.
    pub fn is_local(&self) -> bool {
        match self {
            Self::Tcp(address) => address.ip().is_loopback(),
            Self::Unix(_) => true,
        }
    }

    /// Returns the address that a client on this machine connects to.
    pub fn reached(&self) -> Self {
        match self {
            Self::Tcp(address) if address.ip().is_unspecified() => {
                let loopback: IpAddr = match address.ip() {
                    IpAddr::V4(_) => Ipv4Addr::LOCALHOST.into(),
                    IpAddr::V6(_) => Ipv6Addr::LOCALHOST.into(),
                };
                Self::Tcp(SocketAddr::new(loopback, address.port()))
            }
            other => other.clone(),
        }
    }

    /// Returns the same address, but reachable only by programs on this machine.
    pub fn nearby(&self) -> Self {
        match self {
            Self::Tcp(address) => Self::Tcp(SocketAddr::from(([127, 0, 0, 1], address.port()))),
            Self::Unix(path) => Self::Unix(path.clone()),
        }
    }
}

/// Returns what is wrong with the path of a Unix socket: the system accepts about a hundred bytes.
pub fn socket_path_fault(path: &Path) -> Option<String> {
    let bytes = path.as_os_str().len();
    UnixAddr::from_pathname(path).err().map(|_| {
        format!("the path of a Unix socket has {bytes} bytes; accepted: at most {MAX_SOCKET_PATH_BYTES}")
    })
}

impl fmt::Display for Listen {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Tcp(address) => address.fmt(formatter),
            Self::Unix(path) => write!(formatter, "unix:{}", path.display()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_is_read_as_it_is_shown() {
        for text in
            ["127.0.0.1:0", "[::1]:50051", "0.0.0.0:1", "unix:/run/utterd.sock", "unix:/a b/c", "unix:a"]
        {
            assert_eq!(Listen::parse(text).unwrap().to_string(), text);
        }
        let as_grpc_names_it = Listen::parse("unix:///run/utterd.sock").unwrap();
        assert_eq!(as_grpc_names_it, Listen::Unix("/run/utterd.sock".into()));
        for text in ["", "localhost:1", "127.0.0.1", "unix:", "unix://", "unix:a\0b", "/run/utterd.sock"] {
            assert_eq!(Listen::parse(text), None, "{text:?}");
        }
    }

    #[test]
    fn the_path_of_a_socket_has_a_limit() {
        let path = |bytes| PathBuf::from(format!("/{}", "x".repeat(bytes - 1)));
        assert_eq!(socket_path_fault(&path(MAX_SOCKET_PATH_BYTES)), None);
        let fault = socket_path_fault(&path(MAX_SOCKET_PATH_BYTES + 1)).unwrap();
        assert!(fault.contains(&format!("{} bytes", MAX_SOCKET_PATH_BYTES + 1)), "{fault}");
    }

    #[test]
    fn a_client_connects_where_the_server_can_be_reached() {
        let reached = |text| Listen::parse(text).unwrap().reached().to_string();
        assert_eq!(reached("0.0.0.0:7"), "127.0.0.1:7");
        assert_eq!(reached("[::]:7"), "[::1]:7");
        for text in ["10.0.0.1:7", "127.0.0.1:7", "unix:/run/utterd.sock"] {
            assert_eq!(reached(text), text);
        }
    }

    #[test]
    fn others_reach_what_is_not_local() {
        let is_local = |text| Listen::parse(text).unwrap().is_local();
        assert!(is_local("127.0.0.1:0") && is_local("[::1]:0") && is_local("unix:/run/utterd.sock"));
        assert!(!is_local("0.0.0.0:0") && !is_local("[::]:0") && !is_local("10.0.0.1:0"));
    }
}
