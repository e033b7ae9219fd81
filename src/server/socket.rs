//! What is listened on, and what comes of it.

use std::{
    fs::{self, File, Metadata, Permissions, TryLockError},
    io,
    net::{SocketAddr, TcpStream as StdTcpStream},
    os::unix::{
        fs::{FileTypeExt, MetadataExt, PermissionsExt},
        net::UnixStream as StdUnixStream,
    },
    path::{Path, PathBuf},
    time::Duration,
};

use tokio::{
    io::{AsyncRead, AsyncWrite},
    net::{TcpListener, TcpStream, UnixListener, UnixSocket, UnixStream},
    time::{Instant, sleep},
};

use crate::config::{Listen, socket_path_fault};

/// Connections that wait to be accepted, at most; the system may hold it lower.
const BACKLOG: u32 = 1024;
/// So long a server waits for others that take a socket in the same directory.
const TURN: Duration = Duration::from_secs(1);

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
pub struct SocketFile {
    path: PathBuf,
    /// Which file it is: after another server replaced it, it is not this one's to remove.
    id: (u64, u64),
}

impl Listener {
    /// Listens where `listen` says. The file of a Unix socket that nobody listens on is replaced, and gets the rights
    /// `mode`; nobody can connect before it has them.
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
                // Until it listens, every connection is refused: so the umask opens it to nobody for a moment.
                fs::set_permissions(&file.path, Permissions::from_mode(mode))?;
                Ok(Self::Unix(socket.listen(BACKLOG)?, file))
            }
        }
    }

    /// Where it listens, with the port that it took, or the whole path.
    pub fn address(&self) -> io::Result<Listen> {
        match self {
            Self::Tcp(listener) => listener.local_addr().map(Listen::Tcp),
            Self::Unix(_, file) => Ok(Listen::Unix(file.path.clone())),
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

/// The turn of one server at a time to take a socket in the directory of `path`: of two that start at once, each could
/// find the other's socket before that one listens, and replace it. Whoever holds the lock holds it for a moment only,
/// so that after [`TURN`] somebody else must have locked the directory: then it goes without.
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
    match StdUnixStream::connect(path) {
        Ok(_) => {
            Err(io::Error::new(io::ErrorKind::AddrInUse, "it is in use: a server listens on the socket"))
        }
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
