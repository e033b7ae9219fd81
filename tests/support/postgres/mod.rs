//! PostgreSQL servers for tests, each over its own new directory.
//!
//! They leave nothing behind, even if the test process is killed: [`home`] and [`server`] say how.
#![allow(dead_code)] // each test uses its part

mod home;
mod programs;
mod server;

use std::{
    collections::hash_map::RandomState,
    hash::{BuildHasher, Hasher},
    io::Write,
    net::{SocketAddr, ToSocketAddrs},
    path::PathBuf,
    process::Stdio,
    sync::{
        OnceLock,
        atomic::{AtomicUsize, Ordering},
    },
};

use home::Home;
use programs::Programs;
use server::Server;

/// Settings for tests that kill no server: nothing waits for the disk.
pub const FAST: [(&str, &str); 3] =
    [("fsync", "off"), ("full_page_writes", "off"), ("max_connections", "300")];

/// Names the outside server that [`shared`] returns, as a URL.
const OUTSIDE: &str = "UTTERD_TEST_POSTGRES";

/// The settings of every cluster, before those that a test chooses.
const SETTINGS: [(&str, &str); 3] = [
    ("listen_addresses", "127.0.0.1"),
    // in the directory: in /dev/shm, it would stay there after a kill
    ("dynamic_shared_memory_type", "mmap"),
    // how soon a standby connects again
    ("wal_retrieve_retry_interval", "100ms"),
];

/// Maximum number of ports that are tried.
const PORTS: usize = 16;

/// A PostgreSQL server and its data. Dropping it stops the server and removes the data.
pub struct Cluster {
    url: String,
    programs: Programs,
    /// `None` while it is stopped, and for an outside server.
    server: Option<Server>,
    /// `None` for an outside server.
    home: Option<Home>,
}

/// The cluster that all tests of this process share, with the settings [`FAST`]; or the server at the URL in
/// `UTTERD_TEST_POSTGRES`, which can have no standby.
///
/// The error says in plain words why there is none.
pub fn shared() -> Result<&'static Cluster, String> {
    static SHARED: OnceLock<Result<Cluster, String>> = OnceLock::new();
    let start = || match std::env::var(OUTSIDE) {
        Ok(url) => Ok(Cluster::outside(url)),
        Err(_) => Cluster::start(&FAST),
    };
    SHARED.get_or_init(start).as_ref().map_err(Clone::clone)
}

impl Cluster {
    /// A new cluster, ready for connections of its superuser `utterd`, who needs no password.
    ///
    /// The error says in plain words why there is none.
    pub fn start(settings: &[(&str, &str)]) -> Result<Self, String> {
        let (programs, home) = (Programs::find()?, Home::new()?);
        let mut initdb = home.command(&programs.path("initdb"));
        initdb.args(["--no-sync", "--auth=trust", "--encoding=UTF8", "--locale=C", "--username=utterd"]);
        initdb.arg("--pgdata").arg(home.data());
        home.run(initdb)?;
        home.configure(&SETTINGS)?;
        home.configure(settings)?;
        Self::listening(home, programs)
    }

    /// The server over the data in `home`, on a free port.
    fn listening(home: Home, programs: Programs) -> Result<Self, String> {
        let mut refusal = String::new();
        for _ in 0..PORTS {
            let port = any_port();
            home.configure(&[("port", &port.to_string()), ("unix_socket_directories", &home.sockets())])?;
            match Server::start(&home, &programs) {
                Ok(server) => {
                    let url = format!("postgres://utterd@127.0.0.1:{port}/postgres");
                    return Ok(Self { url, programs, server: Some(server), home: Some(home) });
                }
                Err(log) if log.contains("could not create any TCP/IP sockets") => refusal = log,
                Err(log) => return Err(log),
            }
        }
        Err(refusal)
    }

    fn outside(url: String) -> Self {
        // without its programs here, psql can be in PATH
        let programs = Programs::find().unwrap_or_default();
        Self { url, programs, server: None, home: None }
    }

    /// Where clients connect: `postgres://utterd@127.0.0.1:PORT/postgres`.
    pub fn url(&self) -> String {
        self.url.clone()
    }

    /// The host and port of its URL.
    pub fn address(&self) -> SocketAddr {
        let (_, rest) = self.url.split_once("://").expect("a URL");
        let authority = rest.split(['/', '?']).next().expect("a first part");
        let host = authority.rsplit('@').next().expect("a last part");
        let resolved = host.to_socket_addrs().or_else(|_| (host, 5432).to_socket_addrs());
        resolved.expect("an address").next().expect("an address")
    }

    /// Its TCP port.
    pub fn port(&self) -> u16 {
        self.address().port()
    }

    /// The path of one of PostgreSQL's programs, such as `pgbench`.
    pub fn bin(&self, name: &str) -> PathBuf {
        self.programs.path(name)
    }

    /// What the server logged last, since it accepted connections.
    pub fn log(&self) -> String {
        self.server.as_ref().map(Server::log).unwrap_or_default()
    }

    /// Runs statements, each in its own transaction; returns a line for each row, its columns separated
    /// by `|`.
    #[track_caller]
    pub fn psql(&self, sql: &str) -> String {
        let mut psql = programs::command(&self.bin("psql"));
        psql.args(["-X", "-q", "-A", "-t", "-v", "ON_ERROR_STOP=1", "-d", &self.url]);
        psql.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut child = psql.spawn().expect("psql starts");
        let written = child.stdin.take().expect("stdin is piped").write_all(sql.as_bytes());
        let output = child.wait_with_output().expect("psql ends");
        assert!(output.status.success(), "{sql}\n{}", String::from_utf8_lossy(&output.stderr));
        written.expect("psql reads");
        String::from_utf8(output.stdout).expect("UTF-8").trim_end_matches('\n').to_owned()
    }

    /// Kills all its processes with kill -9, and waits until none is left.
    #[track_caller]
    pub fn kill(&mut self) {
        self.stop("KILL");
    }

    /// Closes all connections and stops the server in an orderly way.
    #[track_caller]
    pub fn stop_fast(&mut self) {
        self.stop("INT");
    }

    #[track_caller]
    fn stop(&mut self, signal: &str) {
        self.server.take().expect("a server of this test that runs").stop(signal);
    }

    /// Starts it over the same data and on the same port, after stopping it fast if it runs.
    #[track_caller]
    pub fn restart(&mut self) {
        if self.server.is_some() {
            self.stop_fast();
        }
        let home = self.home.as_ref().expect("a cluster of this test");
        let server = Server::start(home, &self.programs);
        self.server = Some(server.unwrap_or_else(|log| panic!("it does not start again: {log}")));
    }

    /// A new standby, which receives every change and can be read from.
    pub fn standby(&self) -> Result<Self, String> {
        static STANDBYS: AtomicUsize = AtomicUsize::new(0);
        if self.home.is_none() {
            return Err(format!("the server that {OUTSIDE} names can have no standby"));
        }
        let (programs, home) = (Programs::find()?, Home::new()?);
        let slot = format!("standby_{}", STANDBYS.fetch_add(1, Ordering::Relaxed));
        let mut copy = home.command(&programs.path("pg_basebackup"));
        copy.args(["--checkpoint=fast", "--no-sync", "--write-recovery-conf", "--dbname", &self.url]);
        copy.args(["--create-slot", "--slot", &slot]).arg("--pgdata").arg(home.data());
        home.run(copy)?;
        home.configure(&[("synchronous_standby_names", "")])?;
        Self::listening(home, programs)
    }

    /// Sets whether a commit is acknowledged only once a standby has it too, from now on. While no standby is
    /// connected, such a commit waits.
    #[track_caller]
    pub fn wait_for_standby(&self, waits: bool) {
        assert!(self.home.is_some(), "the settings of an outside server are left alone");
        let standbys = if waits { "*" } else { "" };
        self.psql(&format!(
            "ALTER SYSTEM SET synchronous_standby_names = '{standbys}';
             ALTER SYSTEM SET synchronous_commit = 'on';
             SELECT pg_reload_conf();"
        ));
        // the checkpointer puts it into force, and does so before a checkpoint that is requested later
        self.psql("CHECKPOINT");
    }

    /// Makes this standby a primary; returns when it accepts writes.
    #[track_caller]
    pub fn promote(&mut self) {
        assert_eq!(self.psql("SELECT pg_promote()"), "t", "{}", self.log());
    }
}

/// A port below those that the system chooses for outgoing connections: one of them could take it while the
/// server is down.
fn any_port() -> u16 {
    let random = RandomState::new().build_hasher().finish() % 20_000;
    12_000 + u16::try_from(random).expect("below 20,000")
}
