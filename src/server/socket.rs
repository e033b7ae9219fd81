//! What is listened on, and what comes of it.

use std::{
    fs, io,
    net::{SocketAddr, TcpStream as StdTcpStream},
    os::unix::{
        fs::FileTypeExt,
        net::{SocketAddr as UnixAddr, UnixStream as StdUnixStream},
    },
    path::{Path, PathBuf},
};

use tokio::{
    io::{AsyncRead, AsyncWrite},
    net::{TcpListener, TcpStream, UnixListener, UnixStream},
};

use crate::config::Listen;

/// What is listened on.
pub enum Listener {
    /// A port.
    Tcp(TcpListener),
    /// A Unix socket, and its file, which is removed with it.
    Unix(UnixListener, SocketFile),
}

/// A connection as it came.
pub enum Socket {
    /// From the network.
    Tcp(TcpStream),
    /// From this machine.
    Unix(UnixStream),
}

/// A connection between two runtimes.
pub enum Detached {
    /// From the network.
    Tcp(StdTcpStream),
    /// From this machine.
    Unix(StdUnixStream),
}

/// The file of a Unix socket; it is removed when this is dropped.
pub struct SocketFile(PathBuf);

impl Listener {
    /// Listens. The file of a Unix socket that nobody listens on is replaced; who may connect, its directory and the
    /// umask decide.
    pub async fn bind(listen: &Listen) -> io::Result<Self> {
        match listen {
            Listen::Tcp(address) => Ok(Self::Tcp(TcpListener::bind(address).await?)),
            Listen::Unix(path) => {
                remove_stale(path)?;
                Ok(Self::Unix(UnixListener::bind(path)?, SocketFile(path.clone())))
            }
        }
    }

    /// Where it listens, with the port that it took.
    pub fn address(&self) -> io::Result<Listen> {
        match self {
            Self::Tcp(listener) => listener.local_addr().map(Listen::Tcp),
            Self::Unix(_, file) => Ok(Listen::Unix(file.0.clone())),
        }
    }

    /// The next connection.
    pub async fn accept(&self) -> io::Result<Socket> {
        match self {
            Self::Tcp(listener) => listener.accept().await.map(|(stream, _)| Socket::Tcp(stream)),
            Self::Unix(listener, _) => listener.accept().await.map(|(stream, _)| Socket::Unix(stream)),
        }
    }
}

impl Drop for SocketFile {
    fn drop(&mut self) {
        if let Err(error) = fs::remove_file(&self.0) {
            tracing::warn!(%error, "could not remove the socket {}", self.0.display());
        }
    }
}

/// Removes a socket that a server left behind which was killed.
fn remove_stale(path: &Path) -> io::Result<()> {
    match fs::symlink_metadata(path) {
        Ok(file) if file.file_type().is_socket() => {}
        Ok(_) => {
            return Err(io::Error::new(io::ErrorKind::AlreadyExists, "there is a file that is no socket"));
        }
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(()),
        Err(error) => return Err(error),
    }
    match StdUnixStream::connect_addr(&UnixAddr::from_pathname(path)?) {
        Ok(_) => Err(io::ErrorKind::AddrInUse.into()),
        Err(error) if error.kind() == io::ErrorKind::ConnectionRefused => fs::remove_file(path),
        Err(error) => Err(error),
    }
}

impl Socket {
    /// Takes it off the present runtime.
    pub fn detach(self) -> io::Result<Detached> {
        match self {
            Self::Tcp(stream) => {
                stream.set_nodelay(true)?;
                stream.into_std().map(Detached::Tcp)
            }
            Self::Unix(stream) => stream.into_std().map(Detached::Unix),
        }
    }

    /// What bytes go over.
    pub fn into_stream(self) -> Box<dyn Stream> {
        match self {
            Self::Tcp(stream) => Box::new(stream),
            Self::Unix(stream) => Box::new(stream),
        }
    }
}

impl Detached {
    /// Where it comes from; `None` on a Unix socket.
    pub fn peer(&self) -> Option<SocketAddr> {
        match self {
            Self::Tcp(stream) => stream.peer_addr().ok(),
            Self::Unix(_) => None,
        }
    }
}

/// What bytes go over.
pub trait Stream: AsyncRead + AsyncWrite + Unpin + Send {}

impl<S: AsyncRead + AsyncWrite + Unpin + Send> Stream for S {}
