//! The inspector's interface: the files of the page, and its calls in JSON. The page itself is tested in a browser, in
//! `tests/cases/clients`.

use std::{
    fs,
    io::{BufReader, Read, Write},
    net::TcpStream,
    os::unix::net::UnixStream,
    path::Path,
    process::Stdio,
    sync::Arc,
};

use rcgen::{CertifiedKey, generate_simple_self_signed};
use rustls::{ClientConfig, ClientConnection, RootCertStore, StreamOwned, crypto::ring};
use serde_json::{Value, json};

use crate::support::binary::{CREDENTIALS, Outcome, Process, Server, assert_holds, line_with, token, utterd};

const JSON: &str = "application/json";
const STREAM: &str = "application/connect+json";

/// A server whose inspector is on the Unix socket `page` in its directory.
fn start(flags: &[&str]) -> Server {
    Server::start(&[&["--inspector", "unix:page"], flags].concat())
}

/// An answer: its status, its head and its body.
struct Answer {
    status: u16,
    head: String,
    body: Vec<u8>,
}

impl Answer {
    fn json(&self) -> Value {
        serde_json::from_slice(&self.body).expect("JSON")
    }

    /// The messages of a stream, and the last frame.
    fn frames(&self) -> Vec<Value> {
        let (mut rest, mut frames) = (self.body.as_slice(), Vec::new());
        while let Some((head, after)) = rest.split_first_chunk::<5>() {
            let length = u32::from_be_bytes([head[1], head[2], head[3], head[4]]) as usize;
            let (content, after) = after.split_at(length);
            frames.push(serde_json::from_slice(content).expect("JSON"));
            assert_eq!(head[0], if after.is_empty() { 2 } else { 0 }, "the last frame ends the stream");
            rest = after;
        }
        frames
    }
}

fn exchange(mut stream: impl Read + Write, method: &str, path: &str, head: &str, body: &[u8]) -> Answer {
    let length = body.len();
    let request =
        format!("{method} {path} HTTP/1.1\r\nconnection: close\r\ncontent-length: {length}\r\n{head}\r\n");
    stream.write_all(&[request.as_bytes(), body].concat()).expect("a request is sent");
    let mut answer = Vec::new();
    // A TLS client reports that the server just closes the connection.
    let _ = stream.read_to_end(&mut answer);
    let end = answer.windows(4).position(|it| it == b"\r\n\r\n").expect("a head");
    let head = String::from_utf8(answer[..end].to_vec()).expect("a head is text");
    let status = head.split(' ').nth(1).and_then(|status| status.parse().ok()).expect("a status");
    let body = match head.contains("transfer-encoding: chunked") {
        true => unchunked(&answer[end + 4..]),
        false => answer[end + 4..].to_vec(),
    };
    Answer { status, head, body }
}

fn unchunked(mut rest: &[u8]) -> Vec<u8> {
    let mut body = Vec::new();
    while let Some(line) = rest.windows(2).position(|it| it == b"\r\n") {
        let size = std::str::from_utf8(&rest[..line]).expect("a size is text");
        let size = usize::from_str_radix(size, 16).expect("a size");
        body.extend_from_slice(&rest[line + 2..][..size]);
        rest = &rest[line + 2 + size + 2..];
    }
    body
}

/// Sends a request to the socket of `server`.
fn send(server: &Server, method: &str, path: &str, head: &str, body: &[u8]) -> Answer {
    exchange(connect(server), method, path, &format!("host: page\r\n{head}"), body)
}

fn get(server: &Server, path: &str) -> Answer {
    send(server, "GET", path, "", b"")
}

fn post(server: &Server, method: &str, kind: &str, more: &str, body: &[u8]) -> Answer {
    let head = format!("content-type: {kind}\r\n{more}");
    send(server, "POST", &format!("/utterd.v1.{method}"), &head, body)
}

fn call(server: &Server, method: &str, request: &Value) -> Answer {
    post(server, method, JSON, "", request.to_string().as_bytes())
}

fn frame(message: &Value) -> Vec<u8> {
    let content = message.to_string();
    let length = u32::try_from(content.len()).expect("a short message");
    [&[0], &length.to_be_bytes()[..], content.as_bytes()].concat()
}

fn memorize(server: &Server, content: &str) {
    let request = json!({"conversationId": "a", "utterances": [{"role": "ROLE_USER", "content": content}]});
    assert_eq!(call(server, "MemoryService/Memorize", &request).status, 200);
}

#[test]
fn the_page_loads_only_its_own_files() {
    let server = start(&[]);
    let page = get(&server, "/");
    assert_eq!(page.status, 200);
    assert_holds(
        &page.head,
        &[
            "content-type: text/html; charset=utf-8",
            "content-security-policy: default-src 'none'; script-src 'self'; style-src 'self';",
            "frame-ancestors 'none'",
            "x-content-type-options: nosniff",
            "referrer-policy: no-referrer",
        ],
    );
    let html = String::from_utf8(page.body).expect("the page is text");
    let named = html.split('"').filter(|it| it.starts_with('/')).collect::<Vec<_>>();
    assert!(named.len() > 3, "{named:?}");
    for path in named {
        assert_eq!(get(&server, path).status, 200, "{path}");
    }
    assert_holds(&get(&server, "/main.js").head, &["content-type: text/javascript; charset=utf-8"]);
    assert_eq!(get(&server, "/nothing.js").status, 404);
    assert_eq!(get(&server, "/../Cargo.toml").status, 404);
    let refused = send(&server, "PUT", "/", "", b"");
    assert_eq!(refused.status, 405);
    assert_holds(&refused.head, &["allow: GET, HEAD, POST"]);
    let head = send(&server, "HEAD", "/", "", b"");
    assert_eq!((head.status, head.body.len()), (200, 0));
}

#[test]
fn a_browser_that_has_a_file_is_not_sent_it_again() {
    let server = start(&[]);
    let page = get(&server, "/main.js");
    let tag = page.head.lines().find_map(|line| line.strip_prefix("etag: ")).expect("a tag");
    let again = send(&server, "GET", "/main.js", &format!("if-none-match: \"x\", W/{tag}\r\n"), b"");
    assert_eq!((again.status, again.body.len()), (304, 0));
    assert_eq!(send(&server, "GET", "/main.js", "if-none-match: \"x\"\r\n", b"").status, 200);
}

#[test]
fn a_call_is_the_servers_own_in_json() {
    let server = start(&[]);
    memorize(&server, "Where is Bogotá?");
    let found = call(&server, "MemoryService/Remember", &json!({"conversation_id": "a", "prompt": "Bogotá"}));
    assert_eq!(found.status, 200);
    let found = found.json();
    assert_eq!(found["matches"][0]["utterance"]["sequence"], "1");
    assert_eq!(found["matches"][0]["matchedRanges"], json!([{"start": 9, "end": 15}]));
    assert_holds(&server.run(&["show", "a"]).worked(), &["Where is Bogotá?"]);
    let named = post(&server, "MemoryService/GetCapacityInfo", JSON, "x-request-id: mine\r\n", b"{}");
    assert_holds(&named.head, &["x-request-id: mine"]);
}

#[test]
fn a_failed_call_tells_why() {
    let server = start(&[]);
    let missing = call(&server, "MemoryService/GetCapacityInfo", &json!({"conversationId": "none"}));
    assert_eq!(missing.status, 404);
    let missing = missing.json();
    assert_eq!(missing["code"], "not_found");
    assert_holds(missing["message"].as_str().expect("a message"), &["there is no conversation \"none\""]);
    assert_eq!(missing["details"][0]["type"], "google.rpc.ErrorInfo");
    assert_eq!(missing["details"][0]["debug"]["reason"], "CONVERSATION_NOT_FOUND");
    let refused = |answer: Answer, status: u16, code: &str, says: &str| {
        let told = answer.json();
        assert_eq!((answer.status, told["code"].as_str()), (status, Some(code)), "{told}");
        assert_holds(told["message"].as_str().expect("a message"), &[says]);
    };
    let bad = "invalid_argument";
    refused(call(&server, "MemoryService/Memorize", &json!({"utterances": []})), 400, bad, "utterances");
    refused(call(&server, "MemoryService/Memorize", &json!({"utterance": []})), 400, bad, "'utterance'");
    refused(
        post(&server, "MemoryService/Memorize", JSON, "", b"{"),
        400,
        bad,
        "the request is no MemorizeRequest",
    );
    refused(post(&server, "MemoryService/Memorize", JSON, "", b"{} {}"), 400, bad, "trailing");
    refused(post(&server, "MemoryService/Memorize", "text/plain", "", b"{}"), 415, bad, "application/json");
    refused(post(&server, "TraceService/WatchEvents", JSON, "", b"{}"), 415, bad, STREAM);
    refused(call(&server, "MemoryService/Recall", &json!({})), 404, "unimplemented", "there is no such call");
    refused(send(&server, "POST", "/", "", b"{}"), 404, "unimplemented", "there is no such call");
}

#[test]
fn a_stream_is_in_frames() {
    let server = start(&[]);
    memorize(&server, "one");
    let request = frame(&json!({"conversationId": "a", "format": "CONVERSATION_FORMAT_OPENAI_CHAT"}));
    let answer = post(&server, "ConversationService/ExportConversation", STREAM, "", &request);
    assert_eq!(answer.status, 200);
    let frames = answer.frames();
    assert!(frames[0]["chunk"].is_string(), "{frames:?}");
    assert_eq!(frames[frames.len() - 2]["end"]["utteranceCount"], 1);
    assert_eq!(frames[frames.len() - 1], json!({}));

    let [header, chunk] = [
        json!({"header": {"recipientId": "ben"}}),
        json!({"chunk": "W3sicm9sZSI6InVzZXIiLCJjb250ZW50IjoiaGkifV0="}),
    ];
    let request = [frame(&header), frame(&chunk)].concat();
    let frames = post(&server, "ConversationService/ImportConversation", STREAM, "", &request).frames();
    assert_eq!(frames[0]["conversations"][0]["utteranceCount"], 1, "{frames:?}");

    let wrong = |method: &str, request: &[u8], says: &str| {
        let answer = post(&server, method, STREAM, "", request);
        let frames = answer.frames();
        assert_eq!((answer.status, frames.len()), (200, 1), "an error is told in the last frame");
        assert_holds(frames[0]["error"]["message"].as_str().expect("a message"), &[says]);
    };
    let watch = "MemoryService/WatchCapacity";
    wrong(watch, &frame(&json!({"conversationId": "none"})), "there is no conversation");
    wrong(watch, &[0, 0, 0, 0, 9, b'{'], "it ends within a frame");
    wrong(
        watch,
        &[frame(&json!({})), frame(&json!({}))].concat(),
        "the request has 2 messages; accepted: one",
    );
    wrong(watch, b"", "the request has 0 messages");
}

#[test]
fn a_request_has_a_limit() {
    let server = start(&["--max-content-bytes", "1KiB", "--max-message-bytes", "2KiB"]);
    let answer = call(&server, "MemoryService/Memorize", &json!({"conversationId": "x".repeat(3_000)}));
    assert_eq!((answer.status, answer.json()["code"].as_str()), (413, Some("resource_exhausted")));
    assert_holds(answer.json()["message"].as_str().expect("a message"), &["accepted: at most 2048 bytes"]);
}

#[test]
fn credentials_are_asked_for() {
    let directory = tempfile::tempdir().expect("a directory");
    let [reader, admin] = ["read-only", "admin"].map(|role| token(directory.path(), role, role, &[]));
    let server = Server::start_in(directory, &["--inspector", "unix:page", "--credentials", CREDENTIALS]);
    assert_eq!(get(&server, "/").status, 200, "the page has no secrets");
    let with = |token: &str, more: &str, method: &str| {
        let head = format!("authorization: Bearer {token}\r\n{more}");
        post(&server, method, JSON, &head, br#"{"utterances": [{"role": "ROLE_USER", "content": "hi"}]}"#)
    };
    assert_eq!(post(&server, "MemoryService/GetCapacityInfo", JSON, "", b"{}").status, 401);
    assert_eq!(with("nonsense", "", "MemoryService/Memorize").status, 401);
    assert_eq!(with(&reader, "", "MemoryService/Memorize").status, 403);
    assert_eq!(with(&admin, "utterd-namespace: acme\r\n", "MemoryService/Memorize").status, 200);
    let list = |token: &str, more: &str| {
        let head = format!("authorization: Bearer {token}\r\n{more}");
        let answer = post(
            &server,
            "ConversationService/ListConversations",
            JSON,
            &head,
            br#"{"allRecipients": true}"#,
        );
        (answer.status, answer.json()["conversations"].as_array().map_or(0, Vec::len))
    };
    assert_eq!(list(&reader, ""), (200, 0));
    assert_eq!(list(&reader, "utterd-namespace: acme\r\n").0, 403);
    assert_eq!(list(&admin, "utterd-namespace: acme\r\n"), (200, 1));
    let backup = post(
        &server,
        "AdminService/Backup",
        STREAM,
        &format!("authorization: Bearer {reader}\r\n"),
        &frame(&json!({})),
    );
    assert_eq!(backup.frames()[0]["error"]["code"], "permission_denied");
}

/// A server with its inspector on a port, which it announces.
struct OnPort {
    _process: Process,
    page: String,
}

impl OnPort {
    fn start(directory: &Path, flags: &[&str]) -> Self {
        let mut command = utterd(directory);
        command
            .args(["serve", "--listen", "127.0.0.1:0", "--inspector", "127.0.0.1:0", "--log", "warn"])
            .args(flags);
        let mut process = Process(command.stdout(Stdio::piped()).spawn().expect("it starts"));
        let mut stdout = BufReader::new(process.0.stdout.take().expect("stdout is piped"));
        let line = line_with(&mut stdout, "inspector: ");
        let page = line.trim().trim_start_matches("inspector: ").to_owned();
        Self { _process: process, page }
    }

    fn connected(&self) -> TcpStream {
        let address = self.page.split("//").nth(1).expect("a URL").trim_end_matches('/');
        TcpStream::connect(address).expect("a connection")
    }

    /// The status of a request with this `host` and `more`.
    fn status(&self, host: &str, more: &str) -> u16 {
        self.status_of("/", &format!("host: {host}\r\n{more}"))
    }

    fn status_of(&self, target: &str, head: &str) -> u16 {
        exchange(self.connected(), "GET", target, head, b"").status
    }
}

#[test]
fn pages_of_others_are_kept_away_where_no_credential_is_asked_for() {
    let directory = tempfile::tempdir().expect("a directory");
    let server = OnPort::start(directory.path(), &[]);
    for host in ["localhost:50080", "127.0.0.1", "[::1]:1"] {
        assert_eq!(server.status(host, ""), 200, "{host}");
        assert_eq!(server.status("localhost", &format!("origin: http://{host}\r\n")), 200, "{host}");
    }
    assert_eq!(server.status("evil.example", ""), 403);
    assert_eq!(server.status("localhost", "origin: https://evil.example\r\n"), 403);
    assert_eq!(server.status("localhost", "origin: null\r\n"), 403);
    assert_eq!(server.status("localhost", "sec-fetch-site: cross-site\r\n"), 403);
    assert_eq!(server.status("localhost", "sec-fetch-site: same-origin\r\n"), 200);
    assert_eq!(server.status_of("http://evil.example/", "host: localhost\r\n"), 403);
    assert_eq!(server.status_of("http://127.0.0.1/", "host: localhost\r\n"), 200);
    assert_eq!(server.status_of("/", ""), 400, "no host");
    assert_eq!(server.status("localhost", "host: localhost\r\n"), 400, "two hosts");
    fs::write(directory.path().join(CREDENTIALS), "").expect("it is written");
    let guarded = OnPort::start(directory.path(), &["--credentials", CREDENTIALS]);
    assert_eq!(guarded.status("utterd.example", "origin: https://utterd.example\r\n"), 200);
}

#[test]
fn it_is_encrypted_if_the_server_is() {
    let directory = tempfile::tempdir().expect("a directory");
    let CertifiedKey { cert, signing_key } =
        generate_simple_self_signed(["localhost".to_owned()]).expect("a certificate");
    fs::write(directory.path().join("cert.pem"), cert.pem()).expect("it is written");
    fs::write(directory.path().join("key.pem"), signing_key.serialize_pem()).expect("it is written");
    let server = OnPort::start(directory.path(), &["--tls-cert", "cert.pem", "--tls-key", "key.pem"]);
    assert!(server.page.starts_with("https://127.0.0.1:"), "{}", server.page);
    let mut roots = RootCertStore::empty();
    roots.add(cert.der().clone()).expect("it is a certificate");
    let builder = ClientConfig::builder_with_provider(Arc::new(ring::default_provider()));
    let builder = builder.with_safe_default_protocol_versions().expect("versions");
    let mut config = builder.with_root_certificates(roots).with_no_client_auth();
    config.alpn_protocols = vec![b"h2".to_vec(), b"http/1.1".to_vec()];
    let name = "localhost".try_into().expect("a name");
    let client = ClientConnection::new(Arc::new(config), name).expect("a client");
    let stream = StreamOwned::new(client, server.connected());
    let answer = exchange(stream, "GET", "/", "host: localhost\r\n", b"");
    assert_eq!(answer.status, 200);
    assert_holds(&String::from_utf8_lossy(&answer.body), &["<title>utterd inspector</title>"]);
}

#[test]
fn others_cannot_reach_it_by_mistake() {
    let directory = tempfile::tempdir().expect("a directory");
    let refused = |flags: &[&str]| {
        let mut command = utterd(directory.path());
        command.args(["serve", "--listen", "127.0.0.1:0"]).args(flags);
        Outcome::of(&mut command).failed(2)
    };
    let told = refused(&["--inspector", "0.0.0.0:0"]);
    assert_holds(&told, &["inspector", "an address of this machine alone, such as 127.0.0.1:0", "no TLS"]);
    assert_holds(&refused(&["--inspector", "nowhere"]), &["inspector", "accepted"]);
    let taken = Server::start(&[]);
    let mut command = utterd(directory.path());
    let command = command.args(["serve", "--listen", "127.0.0.1:0", "--inspector", &taken.address]);
    assert_holds(&Outcome::of(command).failed(1), &["cannot listen on", &taken.address, "with --inspector"]);
}

#[test]
fn the_flag_alone_means_the_usual_address() {
    let directory = tempfile::tempdir().expect("a directory");
    let shown = |flags: &[&str]| Outcome::of(utterd(directory.path()).arg("config").args(flags)).worked();
    assert_holds(&shown(&["--inspector"]), &["inspector = \"127.0.0.1:50080\""]);
    assert_holds(
        &shown(&["--inspector", "--buffer-size", "7"]),
        &["inspector = \"127.0.0.1:50080\"", "buffer_size = 7"],
    );
    assert_holds(&shown(&["--inspector", "127.0.0.1:7"]), &["inspector = \"127.0.0.1:7\""]);
    assert_holds(&shown(&[]), &["inspector = \"\""]);
}

/// Connects to the socket of `server`.
fn connect(server: &Server) -> UnixStream {
    UnixStream::connect(server.directory.path().join("page")).expect("a connection")
}

/// Sends the head of a call that announces 16 MB, and a part of its body.
fn announce(server: &Server, head: &str, part: &[u8]) -> UnixStream {
    let mut stream = connect(server);
    let request = format!(
        "POST /utterd.v1.MemoryService/Memorize HTTP/1.1\r\nhost: page\r\ncontent-type: {JSON}\r\n\
         content-length: 16000000\r\n{head}\r\n"
    );
    stream.write_all(&[request.as_bytes(), part].concat()).expect("it is sent");
    stream
}

#[test]
fn bodies_that_do_not_come_and_silent_connections_keep_nobody_waiting() {
    let server = start(&[]);
    let _announced: Vec<_> = (0..8).map(|_| announce(&server, "", b"{")).collect();
    memorize(&server, "hello");
    let _silent: Vec<_> = (0..100).map(|_| connect(&server)).collect();
    memorize(&server, "hello");
}

/// Nothing of the body is read before its caller is known.
#[test]
fn a_body_needs_its_callers_credential_first() {
    let directory = tempfile::tempdir().expect("a directory");
    let token = token(directory.path(), "a", "read-write", &[]);
    let server = Server::start_in(directory, &["--inspector", "unix:page", "--credentials", CREDENTIALS]);
    for head in ["", "authorization: Bearer wrong\r\n"] {
        let mut answer = [0; 12];
        announce(&server, head, b"").read_exact(&mut answer).expect("an answer");
        assert_eq!(&answer, b"HTTP/1.1 401");
    }
    let head = format!("authorization: Bearer {token}\r\n");
    let body = br#"{"utterances": [{"role": "ROLE_USER", "content": "hello"}]}"#;
    assert_eq!(post(&server, "MemoryService/Memorize", JSON, &head, body).status, 200);
}
