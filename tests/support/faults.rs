//! A proxy between clients and a database, where tests make the network fail.
//!
//! It understands just enough of PostgreSQL's protocol to know where a client's messages and requests end.
//! With another protocol, or an encrypted connection, whatever is read at once counts as one request.
#![allow(dead_code)] // each test uses its part

use std::{
    io,
    net::{Ipv4Addr, SocketAddr},
    sync::Arc,
    time::Duration,
};

use bytes::{Bytes, BytesMut};
use parking_lot::Mutex;
use tokio::{
    io::{AsyncReadExt, AsyncWriteExt},
    net::{
        TcpListener, TcpStream,
        tcp::{OwnedReadHalf, OwnedWriteHalf},
    },
    sync::{mpsc, oneshot, watch},
    task::{AbortHandle, JoinSet},
    time::{Instant, sleep_until},
};

/// A proxy on a free port. Dropping it closes its connections.
pub struct Proxy {
    address: SocketAddr,
    switches: watch::Sender<Switches>,
    traps: Arc<Mutex<Vec<Trap>>>,
    serving: AbortHandle,
}

#[derive(Clone, Copy, Default)]
struct Switches {
    delay: Duration,
    is_frozen: bool,
    refuses: bool,
    /// How often all connections were closed.
    cuts: u64,
}

/// Waits for a message that contains the pattern.
struct Trap {
    pattern: &'static [u8],
    loses: Loses,
    lost: oneshot::Sender<Bytes>,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Loses {
    Request,
    Answer,
}

impl Proxy {
    /// Starts a proxy of the server at `target`, on the runtime of the caller.
    pub fn start(target: SocketAddr) -> Self {
        let listener = std::net::TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).expect("a free port");
        listener.set_nonblocking(true).expect("a socket");
        let address = listener.local_addr().expect("an address");
        let listener = TcpListener::from_std(listener).expect("a runtime");
        let (switches, traps) = (watch::Sender::new(Switches::default()), Arc::default());
        let serving = tokio::spawn(serve(listener, target, switches.subscribe(), Arc::clone(&traps)));
        Self { address, switches, traps, serving: serving.abort_handle() }
    }

    /// Where clients connect.
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// Sets how much later everything arrives, in each direction.
    pub fn delay(&self, delay: Duration) {
        self.switches.send_modify(|switches| switches.delay = delay);
    }

    /// Closes all connections. New ones are accepted.
    pub fn cut(&self) {
        self.switches.send_modify(|switches| switches.cuts += 1);
    }

    /// Sets whether new connections are closed as soon as they are opened.
    pub fn refuse(&self, refuses: bool) {
        self.switches.send_modify(|switches| switches.refuses = refuses);
    }

    /// Sets whether nothing arrives in either direction, not even the end of a connection. What was sent in the
    /// meantime arrives afterwards.
    pub fn freeze(&self, is_frozen: bool) {
        self.switches.send_modify(|switches| switches.is_frozen = is_frozen);
    }

    /// Loses the answer to the next request with a message that contains `pattern`: the server receives the
    /// request, executes it and answers; the client receives nothing more, and its connection is closed.
    ///
    /// Afterwards the lost answer is received here, or an error if the connection ended without an answer.
    pub fn lose_next_answer(&self, pattern: &'static [u8]) -> oneshot::Receiver<Bytes> {
        self.set_trap(pattern, Loses::Answer)
    }

    /// Loses the next message that contains `pattern`, and the rest of its request: the server does not
    /// receive them, and the connection is closed.
    ///
    /// Afterwards the lost message is received here.
    pub fn lose_next_request(&self, pattern: &'static [u8]) -> oneshot::Receiver<Bytes> {
        self.set_trap(pattern, Loses::Request)
    }

    fn set_trap(&self, pattern: &'static [u8], loses: Loses) -> oneshot::Receiver<Bytes> {
        let (lost, receiver) = oneshot::channel();
        self.traps.lock().push(Trap { pattern, loses, lost });
        receiver
    }
}

impl Drop for Proxy {
    fn drop(&mut self) {
        self.serving.abort();
    }
}

async fn serve(
    listener: TcpListener,
    target: SocketAddr,
    switches: watch::Receiver<Switches>,
    traps: Arc<Mutex<Vec<Trap>>>,
) {
    // dropped with this task, it closes them
    let mut connections = JoinSet::new();
    loop {
        let (client, _) = listener.accept().await.expect("a connection");
        while connections.try_join_next().is_some() {}
        let now = *switches.borrow();
        if !now.refuses {
            let line = Line { switches: switches.clone(), cuts: now.cuts };
            connections.spawn(connect(client, target, line, traps.clone()));
        }
    }
}

/// What is lost on a connection.
struct Loss {
    trap: Trap,
    bytes: BytesMut,
}

/// Something to deliver, and when it was sent.
type Sent = (Instant, Bytes);

/// Maximum number of reads that wait for delivery, in each direction of a connection.
const WAITING: usize = 64;

/// Connects a client with the server, until both have closed the connection.
async fn connect(client: TcpStream, target: SocketAddr, line: Line, traps: Arc<Mutex<Vec<Trap>>>) {
    let loss = Mutex::new(None);
    let carried = tokio::select! {
        () = line.clone().cut() => return,
        carried = carry(client, target, line, &traps, &loss) => carried,
    };
    if let (Ok(()), Some(Loss { trap, bytes })) = (carried, loss.into_inner())
        && !bytes.is_empty()
    {
        // nobody might be waiting
        let _ = trap.lost.send(bytes.freeze());
    }
}

async fn carry(
    client: TcpStream,
    target: SocketAddr,
    mut line: Line,
    traps: &Mutex<Vec<Trap>>,
    loss: &Mutex<Option<Loss>>,
) -> io::Result<()> {
    line.pass(Instant::now()).await?;
    let server = TcpStream::connect(target).await?;
    client.set_nodelay(true)?;
    server.set_nodelay(true)?;
    let ((from_client, to_client), (from_server, to_server)) = (client.into_split(), server.into_split());
    let (up, requests) = mpsc::channel(WAITING);
    let (down, answers) = mpsc::channel(WAITING);
    tokio::try_join!(
        read_requests(from_client, up, traps, loss),
        deliver(requests, to_server, line.clone(), |_| false),
        read_answers(from_server, down),
        deliver(answers, to_client, line, |answer| is_lost(answer, loss)),
    )?;
    Ok(())
}

/// Reads from the client until it closes the connection or a trap is sprung.
///
/// The server then receives what was read and the end of the connection. Once it ends the connection too, it
/// has executed everything.
async fn read_requests(
    mut client: OwnedReadHalf,
    up: mpsc::Sender<Sent>,
    traps: &Mutex<Vec<Trap>>,
    loss: &Mutex<Option<Loss>>,
) -> io::Result<()> {
    let mut requests = Requests::default();
    let mut goes_on = true;
    while goes_on && client.read_buf(&mut requests.unread).await? > 0 {
        let mut complete = BytesMut::new();
        goes_on = requests.take(&mut complete, traps, loss);
        up.send((Instant::now(), complete.freeze())).await.map_err(io::Error::other)?;
    }
    Ok(())
}

async fn read_answers(mut server: OwnedReadHalf, down: mpsc::Sender<Sent>) -> io::Result<()> {
    let mut answer = BytesMut::new();
    while server.read_buf(&mut answer).await? > 0 {
        down.send((Instant::now(), answer.split().freeze())).await.map_err(io::Error::other)?;
    }
    Ok(())
}

/// Adds an answer to those that are lost, if they are.
fn is_lost(answer: &[u8], loss: &Mutex<Option<Loss>>) -> bool {
    let mut loss = loss.lock();
    let loss = loss.as_mut().filter(|loss| loss.trap.loses == Loses::Answer);
    loss.map(|loss| loss.bytes.extend_from_slice(answer)).is_some()
}

/// Writes what is received and not lost, and then the end.
async fn deliver(
    mut received: mpsc::Receiver<Sent>,
    mut to: OwnedWriteHalf,
    mut line: Line,
    is_lost: impl Fn(&[u8]) -> bool,
) -> io::Result<()> {
    while let Some((sent, bytes)) = received.recv().await {
        line.pass(sent).await?;
        if !is_lost(&bytes) {
            to.write_all(&bytes).await?;
        }
    }
    line.pass(Instant::now()).await?;
    // it might be closed already
    let _ = to.shutdown().await;
    Ok(())
}

/// The switches as they concern one connection.
#[derive(Clone)]
struct Line {
    switches: watch::Receiver<Switches>,
    /// How often all connections had been closed when it was opened.
    cuts: u64,
}

impl Line {
    /// Waits until something arrives that was sent at `sent`; an error if the connection is closed first.
    async fn pass(&mut self, sent: Instant) -> io::Result<()> {
        loop {
            let now = *self.switches.borrow_and_update();
            match now {
                _ if now.cuts != self.cuts => return Err(io::ErrorKind::ConnectionAborted.into()),
                Switches { is_frozen: false, delay: Duration::ZERO, .. } => return Ok(()),
                _ => {}
            }
            tokio::select! {
                () = sleep_until(sent + now.delay), if !now.is_frozen => return Ok(()),
                changed = self.switches.changed() => changed.map_err(io::Error::other)?,
            }
        }
    }

    /// Waits until the connection must be closed.
    async fn cut(mut self) {
        let cuts = self.cuts;
        // the proxy, which is gone otherwise, closes it too
        let _ = self.switches.wait_for(|now| now.cuts != cuts).await;
    }
}

/// The requests of a client, read in pieces.
#[derive(Default)]
struct Requests {
    unread: BytesMut,
    state: State,
    /// The answer to the present request is lost.
    is_last: bool,
}

#[derive(Clone, Copy, Default, PartialEq, Eq)]
enum State {
    /// Before the first message that has a type.
    #[default]
    Starting,
    Started,
    /// Not PostgreSQL's protocol, or encrypted.
    Unknown,
}

/// The first messages are at most this long, in bytes, as PostgreSQL limits them.
const MOST_STARTING: usize = 10_000;

/// The types of messages that a request does not end with: Parse, Bind, Describe, Execute, Close, Flush and
/// `CopyData`.
const PARTS: &[u8] = b"PBDECHd";

impl Requests {
    /// Moves the complete messages to `complete`, up to what is lost; returns whether more can follow.
    fn take(
        &mut self,
        complete: &mut BytesMut,
        traps: &Mutex<Vec<Trap>>,
        loss: &Mutex<Option<Loss>>,
    ) -> bool {
        while let Some(message) = self.next() {
            let ends = self.state != State::Started || !PARTS.contains(&message[0]);
            match sprung(traps, &message).filter(|_| !self.is_last) {
                Some(trap) if trap.loses == Loses::Request => {
                    *loss.lock() = Some(Loss { trap, bytes: message });
                    return false;
                }
                Some(trap) => {
                    *loss.lock() = Some(Loss { trap, bytes: BytesMut::new() });
                    self.is_last = true;
                }
                None => {}
            }
            complete.unsplit(message);
            if self.is_last && ends {
                return false;
            }
        }
        true
    }

    /// The next message, if it is complete.
    fn next(&mut self) -> Option<BytesMut> {
        let typed = usize::from(self.state == State::Started);
        if self.state == State::Unknown {
            return Some(self.unread.split()).filter(|read| !read.is_empty());
        }
        let length = self.unread.get(typed..typed + 4)?.try_into().map(u32::from_be_bytes).ok()?;
        let length = usize::try_from(length).ok()?;
        if self.state == State::Starting && length > MOST_STARTING {
            self.state = State::Unknown;
            return self.next();
        }
        if self.unread.len() < typed + length {
            return None;
        }
        let message = self.unread.split_to(typed + length);
        // the major version 3; others ask for encryption, or cancel
        if self.state == State::Starting && message.get(4..6) == Some(&[0, 3]) {
            self.state = State::Started;
        }
        Some(message)
    }
}

/// Removes and returns the first trap whose pattern is in `message`.
fn sprung(traps: &Mutex<Vec<Trap>>, message: &[u8]) -> Option<Trap> {
    let mut traps = traps.lock();
    let contains = |trap: &Trap| message.windows(trap.pattern.len()).any(|bytes| bytes == trap.pattern);
    let position = traps.iter().position(contains)?;
    Some(traps.remove(position))
}
