//! Where a server listens.

use std::{fmt, net::SocketAddr, path::PathBuf};

/// Where a server listens.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Listen {
    /// On an address of the network; port 0 takes a free one.
    Tcp(SocketAddr),
    /// On a Unix socket.
    Unix(PathBuf),
}

impl Listen {
    /// What a person writes, such as `127.0.0.1:50051` or `unix:/run/utterd.sock`.
    pub fn parse(text: &str) -> Option<Self> {
        match text.strip_prefix("unix:") {
            Some(path) => {
                let is_path = path.starts_with('/') && !path.contains(['\0', '\u{fffd}']);
                is_path.then(|| Self::Unix(path.into()))
            }
            None => text.parse().ok().map(Self::Tcp),
        }
    }

    /// Whether only this machine's programs reach it.
    pub fn is_local(&self) -> bool {
        match self {
            Self::Tcp(address) => address.ip().is_loopback(),
            Self::Unix(_) => true,
        }
    }

    /// The same where only this machine's programs reach it.
    pub fn nearby(&self) -> Self {
        match self {
            Self::Tcp(address) => Self::Tcp(SocketAddr::from(([127, 0, 0, 1], address.port()))),
            Self::Unix(path) => Self::Unix(path.clone()),
        }
    }
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
        for text in ["127.0.0.1:0", "[::1]:50051", "0.0.0.0:1", "unix:/run/utterd.sock", "unix:/a b/c"] {
            assert_eq!(Listen::parse(text).unwrap().to_string(), text);
        }
        for text in ["", "localhost:1", "127.0.0.1", "unix:", "unix:run/utterd.sock", "/run/utterd.sock"] {
            assert_eq!(Listen::parse(text), None, "{text:?}");
        }
    }

    #[test]
    fn others_reach_what_is_not_local() {
        let is_local = |text| Listen::parse(text).unwrap().is_local();
        assert!(is_local("127.0.0.1:0") && is_local("[::1]:0") && is_local("unix:/run/utterd.sock"));
        assert!(!is_local("0.0.0.0:0") && !is_local("[::]:0") && !is_local("10.0.0.1:0"));
    }
}
