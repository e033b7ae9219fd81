//! Stands between a server and its database, and notes how often one waits for the other.

use std::{
    io::{Read, Write},
    net::{Shutdown, SocketAddr, TcpListener, TcpStream},
    sync::Arc,
    thread,
    time::Instant,
};

use parking_lot::Mutex;

use crate::trips::{Conversation, Trip};

/// A forwarder; it forwards as long as this process runs.
pub struct Forwarder {
    port: u16,
    log: Arc<Mutex<Vec<Trip>>>,
}

impl Forwarder {
    /// Forwards connections to a database.
    pub fn to(database: SocketAddr) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").expect("a free port");
        let port = listener.local_addr().expect("its address").port();
        let log = Arc::<Mutex<Vec<Trip>>>::default();
        let noted = log.clone();
        thread::spawn(move || {
            for (number, server) in listener.incoming().flatten().enumerate() {
                forward(number, server, database, noted.clone());
            }
        });
        Self { port, log }
    }

    /// The database's URL with the forwarder's port.
    pub fn url(&self, database: &str, port: u16) -> String {
        let url = database.replace(&format!(":{port}/"), &format!(":{}/", self.port));
        // with it, a connection begins with the message that is expected here
        format!("{url}?sslmode=disable")
    }

    /// Whether everything that was sent is answered.
    pub fn is_idle(&self) -> bool {
        self.log.lock().iter().all(|trip| trip.answered.is_some())
    }

    /// What was noted since the last time.
    pub fn take(&self) -> Vec<Trip> {
        std::mem::take(&mut *self.log.lock())
    }
}

fn forward(number: usize, server: TcpStream, database: SocketAddr, log: Arc<Mutex<Vec<Trip>>>) {
    let database = TcpStream::connect(database).expect("the database answers");
    let conversation = Arc::new(Mutex::new(Conversation::new(number)));
    let asking = (server.try_clone().expect("a socket"), database.try_clone().expect("a socket"));
    let (asked, noted) = (conversation.clone(), log.clone());
    thread::spawn(move || {
        copy(asking.0, asking.1, |bytes| asked.lock().asks(bytes, Instant::now(), &mut noted.lock()));
    });
    thread::spawn(move || {
        copy(database, server, |bytes| conversation.lock().answers(bytes, Instant::now(), &mut log.lock()));
    });
}

/// Copies until one end is closed; each part is noted before it is passed on.
fn copy(mut from: TcpStream, mut to: TcpStream, mut note: impl FnMut(&[u8])) {
    let _ = to.set_nodelay(true);
    let mut buffer = vec![0; 1 << 16];
    while let Ok(length @ 1..) = from.read(&mut buffer) {
        note(&buffer[..length]);
        if to.write_all(&buffer[..length]).is_err() {
            break;
        }
    }
    let _ = to.shutdown(Shutdown::Write);
}
