//! How a server is started, reloaded and stopped by what supervises it.

use std::{
    fs::{self, File},
    future::pending,
    io::{BufRead, BufReader},
    net::TcpListener,
    os::{
        fd::OwnedFd,
        unix::net::{UnixDatagram, UnixListener},
    },
    path::Path,
    process::{ChildStderr, Command, Stdio},
};

use futures::stream;
use http::uri::PathAndQuery;
use rustix::process::{Pid, Signal, kill_process};
use tempfile::TempDir;
use tokio::{net::TcpStream, sync::oneshot, task::JoinHandle};
use tonic::{Request, Response, Status, client::Grpc, transport::Channel};
use tonic_prost::ProstCodec;
use utterd::proto::{
    GetCapacityInfoRequest, MemorizeRequest, MemorizeResponse, NewUtterance, Role,
    memory_service_client::MemoryServiceClient,
};

use crate::support::binary::{Outcome, Process, UTTERD, assert_holds, line_with, utterd, within};

/// A server whose log is read.
struct Supervised {
    directory: TempDir,
    process: Process,
    log: BufReader<ChildStderr>,
}

impl Supervised {
    fn start(flags: &[&str]) -> Self {
        Self::start_in(tempfile::tempdir().expect("a directory"), |directory| {
            let mut command = utterd(directory);
            command.args(["serve", "--listen", "127.0.0.1:0"]).args(flags);
            command
        })
    }

    fn start_in(directory: TempDir, command: impl FnOnce(&Path) -> Command) -> Self {
        let mut command = command(directory.path());
        let mut child = command.stdout(Stdio::null()).stderr(Stdio::piped()).spawn().expect("it starts");
        let log = BufReader::new(child.stderr.take().expect("stderr is piped"));
        Self { directory, process: Process(child), log }
    }

    /// Waits for the address in the log.
    fn address(&mut self) -> String {
        let line = self.told("serving on ");
        let (_, rest) = line.split_once("serving on ").expect("just found");
        rest.split_once(',').expect("the store follows").0.to_owned()
    }

    /// Waits for a line of the log that contains `part`.
    #[track_caller]
    fn told(&mut self, part: &str) -> String {
        line_with(&mut self.log, part)
    }

    fn send(&self, signal: Signal) {
        kill_process(Pid::from_child(&self.process.0), signal).expect("it runs");
    }

    /// Waits until it has ended; returns the rest of its log.
    fn ended(mut self) -> String {
        assert!(self.process.0.wait().expect("it ran").success());
        self.log.lines().map(|line| line.expect("a line") + "\n").collect()
    }
}

type Call = JoinHandle<Result<MemorizeResponse, Status>>;

/// A call of Memorize whose request comes later; it is in flight when this returns.
async fn call(channel: &Channel, request: impl Future<Output = MemorizeRequest> + Send + 'static) -> Call {
    let (mut grpc, first) = (Grpc::new(channel.clone()), channel.clone());
    grpc.ready().await.expect("it is connected");
    let (sent, is_sent) = oneshot::channel();
    let call = tokio::spawn(async move {
        let path = PathAndQuery::from_static("/utterd.v1.MemoryService/Memorize");
        let codec = ProstCodec::<MemorizeRequest, MemorizeResponse>::default();
        let request = stream::once(request);
        let call = async { grpc.client_streaming(Request::new(Box::pin(request)), path, codec).await };
        // Requests of one connection are sent in order: once the second is answered, the first has arrived.
        let second = async {
            let mut memory = MemoryServiceClient::new(first);
            memory.get_capacity_info(GetCapacityInfoRequest::default()).await.expect("it is answered");
            sent.send(()).expect("it is awaited");
        };
        futures::join!(call, second).0.map(Response::into_inner)
    });
    is_sent.await.expect("the second is answered");
    call
}

async fn connected(address: &str) -> Channel {
    let endpoint = Channel::from_shared(format!("http://{address}")).expect("an address");
    endpoint.connect().await.expect("it is served")
}

/// Asks the server to stop, and waits until it refuses new connections.
async fn closing(server: &mut Supervised, address: &str) {
    server.send(Signal::TERM);
    server.told("asked to stop: calls in flight have ");
    while TcpStream::connect(address).await.is_ok() {
        tokio::task::yield_now().await;
    }
}

#[tokio::test]
async fn calls_in_flight_are_answered() {
    let mut server = Supervised::start(&["--drain-timeout", "1h"]);
    let address = server.address();
    let (send, request) = oneshot::channel();
    let call = call(&connected(&address).await, async { request.await.expect("it is sent") }).await;
    closing(&mut server, &address).await;
    let said = NewUtterance { role: Role::User.into(), content: "late".to_owned(), ..Default::default() };
    send.send(MemorizeRequest { utterances: vec![said], ..Default::default() }).expect("it is awaited");
    let response = call.await.expect("it ends").expect("it is answered");
    assert_eq!(response.memorized.len(), 1);
    assert_holds(&server.ended(), &["stopped"]);
}

#[tokio::test]
async fn calls_in_flight_have_a_limit() {
    let mut server = Supervised::start(&["--drain-timeout", "50ms"]);
    let call = call(&connected(&server.address()).await, pending()).await;
    server.send(Signal::TERM);
    assert_holds(&server.ended(), &["calls in flight have 50ms", "calls were still in flight", "stopped"]);
    call.await.expect("it ends").expect_err("it was cut off");
}

#[tokio::test]
async fn a_second_signal_cuts_calls_off() {
    let mut server = Supervised::start(&["--drain-timeout", "1h"]);
    let address = server.address();
    let call = call(&connected(&address).await, pending()).await;
    closing(&mut server, &address).await;
    server.send(Signal::INT);
    assert_holds(&server.ended(), &["asked to stop again: calls in flight are cut off", "stopped"]);
    call.await.expect("it ends").expect_err("it was cut off");
}

#[test]
fn sighup_changes_the_log_and_says_what_needs_a_restart() {
    let directory = tempfile::tempdir().expect("a directory");
    let configuration = directory.path().join("utterd.toml");
    fs::write(&configuration, "log = \"info\"\n").expect("a file");
    let mut server = Supervised::start_in(directory, |directory| {
        let mut command = utterd(directory);
        command.args(["serve", "--listen", "127.0.0.1:0"]);
        command
    });
    server.address();
    fs::write(&configuration, "buffer_size = \"many\"\n").expect("a file");
    server.send(Signal::HUP);
    server.told("the settings stay as they are");
    server.told("buffer_size");
    fs::write(&configuration, "log = \"warn\"\nbuffer_size = 7\n").expect("a file");
    server.send(Signal::HUP);
    let line = server.told("the server must be restarted");
    assert!(line.trim_end().ends_with(": buffer_size"), "{line}");
    server.send(Signal::TERM);
    assert_eq!(server.ended(), "", "only warnings are logged from then on");
}

/// Starts a server with `socket` as descriptor 3, as systemd does.
fn activated(socket: OwnedFd, flags: &str) -> Supervised {
    Supervised::start_in(tempfile::tempdir().expect("a directory"), |directory| {
        let passed = format!("exec 3<&0 </dev/null; export LISTEN_FDS=1 LISTEN_PID=$$; exec {UTTERD} serve");
        let mut command = within(directory, "sh");
        command.args(["-c", &format!("{passed} {flags}")]).stdin(socket);
        command
    })
}

fn memorize(server: &Supervised, address: &str) -> Outcome {
    Outcome::of(utterd(server.directory.path()).args(["memorize", "hi"]).env("UTTERD_SERVER", address))
}

#[test]
fn a_socket_can_be_passed() {
    let listener = TcpListener::bind("127.0.0.1:0").expect("a free port");
    let wanted = listener.local_addr().expect("an address").to_string();
    let mut server = activated(listener.into(), "--listen 127.0.0.1:1");
    assert_eq!(server.address(), wanted);
    memorize(&server, &wanted).worked();
    let live = ["health", "--live", "--server", &wanted];
    assert_eq!(Outcome::of(utterd(server.directory.path()).args(live)).worked(), "serving\n");
    server.send(Signal::TERM);
    server.ended();
}

#[test]
fn the_file_of_a_unix_socket_that_was_passed_stays() {
    let directory = tempfile::tempdir().expect("a directory");
    let path = directory.path().join("socket");
    let mut server = activated(UnixListener::bind(&path).expect("a socket").into(), "");
    assert_eq!(server.address(), format!("unix:{}", path.display()));
    memorize(&server, &format!("unix:{}", path.display())).worked();
    server.send(Signal::TERM);
    server.ended();
    assert!(path.exists(), "it belongs to whoever made it");
}

#[test]
fn what_was_passed_must_be_a_local_or_guarded_socket() {
    let mut server = activated(TcpListener::bind("0.0.0.0:0").expect("a free port").into(), "");
    server.told("callers are not authenticated");
    let mut server = activated(File::open("/dev/null").expect("it is there").into(), "");
    server.told("(LISTEN_FDS): what was passed is not a stream socket");
}

#[test]
fn a_supervisor_is_notified() {
    let directory = tempfile::tempdir().expect("a directory");
    let path = directory.path().join("notify");
    let notified = UnixDatagram::bind(&path).expect("a socket");
    let mut server = Supervised::start_in(directory, |directory| {
        let mut command = utterd(directory);
        command.args(["serve", "--listen", "127.0.0.1:0"]).env("NOTIFY_SOCKET", &path);
        command
    });
    let next = || {
        let mut message = [0; 200];
        let length = notified.recv(&mut message).expect("a message");
        String::from_utf8_lossy(&message[..length]).into_owned()
    };
    let address = server.address();
    assert_eq!(next(), format!("READY=1\nSTATUS=serving on {address}\n"));
    server.send(Signal::TERM);
    assert_holds(&next(), &["STOPPING=1"]);
    server.ended();
}

fn check(directory: &Path, flags: &[&str]) -> Outcome {
    Outcome::of(utterd(directory).args(["serve", "--check"]).args(flags))
}

#[test]
fn a_check_finds_what_would_stop_a_start_and_changes_nothing() {
    let directory = tempfile::tempdir().expect("a directory");
    let place = directory.path();
    for flags in [&[][..], &["--backend", "fjall", "--data-dir", "new/data"]] {
        assert_eq!(check(place, flags).worked(), "the server can start with these settings\n");
    }
    assert_eq!(fs::read_dir(place).expect("a directory").count(), 0);
    fs::write(place.join("file"), "text").expect("a file");
    for (flags, part) in [
        (&["--buffer-size", "x"][..], "buffer_size"),
        (&["--tls-cert", "none.pem", "--tls-key", "none.pem"], "tls_cert: none.pem"),
        (&["--credentials", "none.toml"], "credentials: none.toml"),
        (&["--jwt-keys", "file", "--jwt-audience", "a"], "jwt_keys: file"),
        (&["--backend", "fjall", "--data-dir", "file"], "file"),
        (&["--backend", "fjall", "--data-dir", "."], "file"),
        (&["--backend", "fjall", "--data-dir", "file/none"], "file/none"),
        (&["--backend", "postgres", "--database-url", "postgres://u@127.0.0.1:1/a"], "the database"),
    ] {
        let outcome = check(place, flags);
        assert_ne!(outcome.code, Some(0), "{flags:?}");
        assert!(outcome.stderr.contains(part), "{flags:?}: {}", outcome.stderr);
    }
}

#[test]
fn a_check_warns_of_models_that_nobody_serves() {
    let directory = tempfile::tempdir().expect("a directory");
    let url = "http://127.0.0.1:1/v1";
    let outcome = check(directory.path(), &["--embedding-base-url", url, "--embedding-model", "small"]);
    assert_holds(&outcome.stderr, &["embedding_base_url: nobody answers at http://127.0.0.1:1/v1"]);
    outcome.worked();
}
