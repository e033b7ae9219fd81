//! The listening sockets, and the connections that they accept.

use std::{
    fs::{self, File, Metadata, Permissions, TryLockError},
    io,
    net::TcpStream as StdTcpStream,
    os::unix::{
        fs::{FileTypeExt, MetadataExt, PermissionsExt},
        net::UnixStream as StdUnixStream,
    },
    path::{Path, PathBuf},
    time::Duration,
};

use tokio::{
    io::{AsyncRead, AsyncWrite},
    net::{TcpListener, UnixListener, UnixSocket},
    time::{Instant, sleep},
};

use super::systemd::Passed;
use utterd_config::{Listen, socket_path_fault};

/// The most connections that wait to be accepted; the system may set a lower limit.
const BACKLOG: u32 = 1024;
/// How long a server waits for others that bind a socket in the same directory.
const TURN: Duration = Duration::from_secs(1);

/// A listening socket.
pub enum Listener {
    /// A port.
    Tcp(TcpListener),
    /// A Unix socket and its path; with its file, which is removed together with it, unless somebody else made it.
    Unix(
        UnixListener,
        PathBuf,
        #[expect(dead_code, reason = "its drop removes the file")] Option<SocketFile>,
    ),
}

/// A connection as it was accepted. It belongs to no runtime yet.
pub enum Socket {
    /// From the network.
    Tcp(StdTcpStream),
    /// From this machine.
    Unix(StdUnixStream),
}

/// The file of a Unix socket; removed on drop.
pub struct SocketFile {
    path: PathBuf,
    /// The identity of the file: if another server has replaced the file, it must not be removed.
    id: (u64, u64),
}

impl Listener {
    /// Listens where `listen` says. The file of a Unix socket that nobody listens on is replaced. The new file gets the
    /// permissions `mode`; nobody can connect before.
    pub async fn bind(listen: &Listen, mode: u32) -> io::Result<Self> {
        match listen {
            Listen::Tcp(address) => Ok(Self::Tcp(TcpListener::bind(address).await?)),
            Listen::Unix(path) => {
                let path = std::path::absolute(path)?;
                if let Some(fault) = socket_path_fault(&path) {
                    return Err(io::Error::new(io::ErrorKind::InvalidInput, fault));
                }
                let _turn = turn(&path).await;
                remove_stale(&path)?;
                let socket = UnixSocket::new_stream()?;
                socket.bind(&path)?;
                let file = SocketFile::of(path)?;
                // Until it listens, every connection is refused, so a lax umask opens it to nobody meanwhile.
                fs::set_permissions(&file.path, Permissions::from_mode(mode))?;
                Ok(Self::Unix(socket.listen(BACKLOG)?, file.path.clone(), Some(file)))
            }
        }
    }

    /// Takes over a socket that somebody else listens on. The file of a Unix socket stays when the server ends.
    pub fn of(passed: Passed) -> io::Result<Self> {
        match passed {
            Passed::Tcp(listener) => {
                listener.set_nonblocking(true)?;
                TcpListener::from_std(listener).map(Self::Tcp)
            }
            Passed::Unix(listener) => {
                listener.set_nonblocking(true)?;
                let address = listener.local_addr()?;
                let path = address.as_pathname().map(Path::to_owned).unwrap_or_default();
                Ok(Self::Unix(UnixListener::from_std(listener)?, path, None))
            }
        }
    }

    /// Returns where it listens, with the actual port or the absolute path.
    pub fn address(&self) -> io::Result<Listen> {
        match self {
            Self::Tcp(listener) => listener.local_addr().map(Listen::Tcp),
            Self::Unix(_, path, _) => Ok(Listen::Unix(path.clone())),
        }
    }

    /// Accepts the next connection.
    pub async fn accept(&self) -> io::Result<Socket> {
        match self {
            Self::Tcp(listener) => listener.accept().await?.0.into_std().map(Socket::Tcp),
            Self::Unix(listener, ..) => listener.accept().await?.0.into_std().map(Socket::Unix),
        }
    }
}

impl SocketFile {
    fn of(path: PathBuf) -> io::Result<Self> {
        let id = id(&fs::symlink_metadata(&path)?);
        Ok(Self { path, id })
    }

    fn remove(&self) -> io::Result<()> {
        match fs::symlink_metadata(&self.path) {
            Ok(file) if id(&file) == self.id => fs::remove_file(&self.path),
            Err(error) if error.kind() != io::ErrorKind::NotFound => Err(error),
            _ => Ok(()),
        }
    }
}

impl Drop for SocketFile {
    fn drop(&mut self) {
        if let Err(error) = self.remove() {
            tracing::warn!(%error, "could not remove the socket {}", self.path.display());
        }
    }
}

fn id(file: &Metadata) -> (u64, u64) {
    (file.dev(), file.ino())
}

/// Locks the directory of `path`, so that one server at a time binds a socket there: of two that start at the same
/// time, each could find the other's socket before it listens, and replace it. A server holds the lock only for a
/// moment, so if [`TURN`] passes, something else has locked the directory, and this server goes on without the lock.
async fn turn(path: &Path) -> Option<File> {
    let directory = File::open(path.parent()?).ok()?;
    let deadline = Instant::now() + TURN;
    while let Err(TryLockError::WouldBlock) = directory.try_lock() {
        if Instant::now() > deadline {
            return None;
        }
        sleep(TURN / 100).await;
    }
    Some(directory)
}

/// Removes a socket that a killed server left behind.
fn remove_stale(path: &Path) -> io::Result<()> {
    match fs::symlink_metadata(path) {
        Ok(file) if file.file_type().is_socket() => {}
        Ok(_) => {
            return Err(io::Error::new(io::ErrorKind::AlreadyExists, "the file there is not a socket"));
        }
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(()),
        Err(error) => return Err(error),
    }
    match StdUnixStream::connect(path) {
        Ok(_) => Err(io::Error::new(io::ErrorKind::AddrInUse, "the socket is in use by another server")),
        Err(error) if error.kind() == io::ErrorKind::ConnectionRefused => fs::remove_file(path),
        Err(error) => Err(error),
    }
}

/// A byte stream in both directions.
pub trait Stream: AsyncRead + AsyncWrite + Unpin + Send {}

impl<S: AsyncRead + AsyncWrite + Unpin + Send> Stream for S {}
